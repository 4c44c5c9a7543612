#include "headlight/data/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "headlight/base/gzip_testing.h"
#include "headlight/data/testing.h"
#include "headlight/data/text_reader.h"

namespace headlight::lines_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Lines = std::vector<std::string>;

class ReadLinesTest : public testing::Test {
 protected:
  Lines Read(std::string_view bytes) { return AllTexts(folder_.Write("text", bytes)); }
  std::string Failure(std::string_view bytes) {
    return ErrorOf([&] { Read(bytes); });
  }

  TestFolder folder_;
};

TEST_F(ReadLinesTest, EndsLinesAsUnixAndWindowsDo) {
  EXPECT_THAT(Read("a\nbc\r\n\n\r\nd"), ElementsAre("a", "bc", "", "", "d"));
  EXPECT_THAT(Read("a\n"), ElementsAre("a"));
  EXPECT_THAT(Read("a\rb\r\r\n"), ElementsAre("a\rb\r"));
  EXPECT_THAT(Read("a\r"), ElementsAre("a"));
  EXPECT_THAT(Read("\n"), ElementsAre(""));
  EXPECT_THAT(Read("\xEF\xBB\xBF\xEF\xBB\xBF"
                   "a\n\xEF\xBB\xBF"
                   "b\n"),
              ElementsAre("\xEF\xBB\xBF"
                          "a",
                          "\xEF\xBB\xBF"
                          "b"));  // with a byte order mark
  EXPECT_THAT(Read(""), ElementsAre());
}

TEST_F(ReadLinesTest, EveryCutOfTheBufferGivesTheSameLines) {
  std::string text;
  Lines expected;
  for (int line = 0; line < 3000; ++line) {
    expected.push_back(std::string(static_cast<std::size_t>(line * 37 % 211), 'x') + "äß€😀");
    text += expected.back() + "\n";
  }
  EXPECT_EQ(Read(text), expected);
  EXPECT_EQ(Read(Gzip(text)), expected);
}

TEST_F(ReadLinesTest, ReadsGzipOfSeveralMembers) {
  EXPECT_THAT(Read(Gzip("a\nb") + Gzip("c\n") + Gzip("")), ElementsAre("a", "bc"));
}

TEST_F(ReadLinesTest, RefusesDamagedGzip) {
  std::string text;
  for (int line = 0; line < 100; ++line) text += std::to_string(line * line) + "\n";
  const std::string packed = Gzip(text);
  for (std::size_t size = 2; size < packed.size(); ++size)
    ASSERT_THAT(Failure(packed.substr(0, size)), HasSubstr("truncated")) << size;
  EXPECT_THAT(Failure(packed + "more"), HasSubstr("damaged gzip data"));
  for (std::size_t byte = 10; byte < packed.size(); byte += 5) {
    std::string damaged = packed;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
    ASSERT_NE(Failure(damaged), "") << byte;
  }
}

TEST_F(ReadLinesTest, NamesLineAndByteOfWhatIsNotText) {
  EXPECT_EQ(Failure("gut\nsch\xF6n\n"), folder_.Path("text") + ": line 2: byte 3 is not UTF-8");
  EXPECT_EQ(Failure("\xC3"), folder_.Path("text") + ": line 1: byte 0 is not UTF-8");
  EXPECT_EQ(Failure("ok\nok\n\xED\xA0\x80"), folder_.Path("text") + ": line 3: byte 0 is not UTF-8");
  EXPECT_EQ(Failure(std::string_view("a\nb\0c\n", 6)),
            folder_.Path("text") + ": line 2: byte 1 is a NUL, which no text has");
}

TEST_F(ReadLinesTest, BoundsALine) {
  const std::string longest(kMaxLineBytes, 'x');
  EXPECT_THAT(Read("a\n" + longest + "\r\nb"), ElementsAre("a", longest, "b"));
  EXPECT_THAT(Failure("a\n" + longest + "x\nb"), HasSubstr("line 2: longer than 16777216 bytes"));
  EXPECT_THAT(Failure(longest + longest + longest), HasSubstr("line 1: longer than 16777216 bytes"));
  // The reader must throw the error without inflating the whole line.
  EXPECT_THAT(Failure(Gzip(std::string(8 * kMaxLineBytes, 'x'))), HasSubstr("line 1: longer than 16777216 bytes"));
}

TEST_F(ReadLinesTest, NamesTheFileThatCannotBeRead) {
  EXPECT_THAT(ErrorOf([&] { AllTexts(folder_.Path("none")); }), HasSubstr("none: cannot open: No such file"));
  EXPECT_THAT(ErrorOf([&] { AllTexts(folder_.Path("")); }), HasSubstr("a folder"));
  EXPECT_THAT(ErrorOf([&] { LineReader(-1, "standard input").Next(); }),
              HasSubstr("standard input: cannot read: Bad file descriptor"));
}

TEST(LineReader, GivesALineAsSoonAsItIsComplete) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto type = [&](std::string_view text) {
    ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  LineReader reader(ends[0], "pipe");
  for (const std::string line : {"", "one", "two"}) {  // a reader that waits for more than a line would block forever
    type(line + "\n");
    EXPECT_EQ(reader.Next(), line);
  }
  EXPECT_EQ(reader.line_number(), 3);
  type("three");
  close(ends[1]);
  EXPECT_EQ(reader.Next(), "three");
  EXPECT_EQ(reader.Next(), std::nullopt);
  EXPECT_EQ(reader.line_number(), 4);
  close(ends[0]);
}

TEST(LineReader, GoesOnBehindABadLine) {
  const TestFolder folder;
  const std::string bad =
      "a\nb\xff\n" + std::string(3 * kMaxLineBytes, 'x') + "\nc\n\n" + std::string(kMaxLineBytes + 1, 'y') + "\r\nd";
  for (const std::string& bytes : {bad, Gzip(bad)}) {
    LineReader reader(folder.Write("text", bytes));
    EXPECT_EQ(reader.Next(), "a");
    EXPECT_THAT(ErrorOf([&] { reader.Next(); }), HasSubstr("line 2: byte 1 is not UTF-8"));
    EXPECT_THAT(ErrorOf([&] { reader.Next(); }), HasSubstr("line 3: longer than"));
    EXPECT_EQ(reader.Next(), "c");
    EXPECT_EQ(reader.Next(), "");
    EXPECT_THAT(ErrorOf([&] { reader.Next(); }), HasSubstr("line 6: longer than"));
    EXPECT_EQ(reader.Next(), "d");
    EXPECT_EQ(reader.line_number(), 7);
    EXPECT_EQ(reader.Next(), std::nullopt);
  }
}

TEST(LineReader, TellsItsShareOfTheFile) {
  const TestFolder folder;
  LineReader plain(folder.Write("text", "abcd\nefgh\nij\nk"));
  EXPECT_EQ(plain.share(), 0);
  plain.Next();
  EXPECT_DOUBLE_EQ(plain.share(), 5.0 / 14);
  while (plain.Next()) continue;
  EXPECT_EQ(plain.share(), 1);
  LineReader packed(folder.Write("text.gz", Gzip("a\nb\n")));
  while (packed.Next()) continue;
  EXPECT_EQ(packed.share(), 1);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(LineReader(ends[0], "pipe").share(), -1);
  for (const int end : ends) close(end);
}

TEST(LineReader, GivesStandardInputToOneReader) {
  const LineReader first("-");
  EXPECT_EQ(first.name(), "standard input");
  EXPECT_THAT(ErrorOf([] { LineReader("-"); }), HasSubstr("standard input (-) can only be one of the files"));
}

TEST(LineReader, ReadsGzipThatArrivesByteByByte) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    for (const char byte : Gzip("eins\nzwei\n")) EXPECT_EQ(write(ends[1], &byte, 1), 1);
    close(ends[1]);
  });
  LineReader reader(ends[0], "pipe");
  EXPECT_EQ(reader.Next(), "eins");
  EXPECT_EQ(reader.Next(), "zwei");
  EXPECT_EQ(reader.Next(), std::nullopt);
  writer.join();
  close(ends[0]);
}

}  // namespace
}  // namespace headlight::lines_test
