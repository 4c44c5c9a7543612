#include "headlight/data/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "headlight/data/testing.h"

namespace headlight::csv_test {
namespace {

using testing::HasSubstr;
using Rows = std::vector<std::vector<std::string>>;

struct CsvTest : testing::Test {
  Rows Read(std::string_view text) const {
    CsvReader reader(folder.Write("a.csv", text));
    Rows rows;
    while (auto row = reader.Next()) rows.push_back(*std::move(row));
    return rows;
  }
  std::string Refused(std::string_view text) const {
    const std::string error = ErrorOf([&] { Read(text); });
    return error.substr(std::min(error.size(), error.find("a.csv")));
  }
  TestFolder folder;
};

TEST_F(CsvTest, ReadsFieldsAsRfc4180HasThem) {
  EXPECT_EQ(Read("text,label\r\nA dog.,1\n"), (Rows{{"text", "label"}, {"A dog.", "1"}}));
  EXPECT_EQ(Read("\"a, \"\"b\"\"\",\"\",\n\n,c"), (Rows{{"a, \"b\"", "", ""}, {"", "c"}}));
  EXPECT_EQ(Read("\"two\r\nlines\n\n\",x\n"), (Rows{{"two\nlines\n\n", "x"}}));
  EXPECT_EQ(Read("\xEF\xBB\xBFtext,label\n"), (Rows{{"text", "label"}}));
  EXPECT_EQ(Read("a 5\" disk,b\n"), (Rows{{"a 5\" disk", "b"}}));
  EXPECT_EQ(Read(""), Rows());
}

TEST_F(CsvTest, NamesTheRowThatIsBroken) {
  EXPECT_EQ(Refused("a,b\n\nc,\"d\ne\nf"), "a.csv:3: a quote that is opened in this row is never closed");
  EXPECT_THAT(Refused("a,b\n\"c\"d,e\n"), HasSubstr("a.csv:2: text follows a closing quote"));
  EXPECT_THAT(
      Refused("a,\"b\n" + std::string(kMaxLineBytes / 2, 'x') + "\n" + std::string(kMaxLineBytes / 2, 'x') + "\n\"\n"),
      HasSubstr("a.csv:1: a row is longer than 16777216 bytes"));
  EXPECT_THAT(Refused("a,b\n\"c\n\xFF\"\n"), HasSubstr("a.csv: line 3: byte 0 is not UTF-8"));
}

TEST_F(CsvTest, GoesOnAfterAnUnclosedQuote) {
  const std::string text = "a,b\nc,\"d\ne,f\n\"g\ng\",h\ni,j\n";
  CsvReader reader(folder.Write("a.csv", text));
  Rows rows;
  std::vector<std::string> errors;
  for (bool more = true; more;) {
    const std::string error = ErrorOf([&] {
      const auto row = reader.Next();
      if (row) rows.push_back(*row);
      more = row.has_value();
    });
    if (!error.empty()) errors.push_back(error.substr(error.find("a.csv")));
  }
  EXPECT_EQ(rows, (Rows{{"a", "b"}, {"e", "f"}, {"g\ng", "h"}, {"i", "j"}}));
  EXPECT_EQ(errors, std::vector<std::string>{
                        "a.csv:2: text follows a closing quote in line 4; a quote inside of quotes is doubled"});
}

TEST_F(CsvTest, StopsIfTooMuchIsReadAgain) {
  std::string text;
  while (text.size() < kMaxLineBytes) text += std::string(1 << 14, 'x') + "\",\"\n";
  CsvReader reader(folder.Write("a.csv", text + "\"\"x\n"));
  std::string last;
  int errors = 0;
  for (std::string error = "."; error != last && errors < 100; ++errors) {
    last = error;
    error = ErrorOf([&] { reader.Next(); });
  }
  EXPECT_LT(errors, 10);
}

}  // namespace
}  // namespace headlight::csv_test
