#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "headlight/base/file.h"
#include "headlight/cli/program/testing.h"

namespace headlight::embed_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kFolder = HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences";

TEST(Embed, PrintsWritesOrSearches) {
  const TemporaryFolder folder;
  const std::string text = "Two dogs.\nA green meadow.\n\nThe children are playing.\n";
  const std::vector<std::string> rows = Lines(RunProgram({"embed", kFolder}, text).out);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(std::count(rows[2].begin(), rows[2].end(), ','), 11);

  const std::string npy = folder.File("vectors.npy");
  EXPECT_EQ(RunProgram({"embed", kFolder, "--out", npy, "--quiet"}, text).out, "");
  const std::string file = ReadFile(npy);
  EXPECT_THAT(file, StartsWith(std::string("\x93NUMPY\x01\x00", 8)));
  EXPECT_THAT(file, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 12), }"));
  EXPECT_EQ((file.size() - 4 * 12 * sizeof(float)) % 64, 0U);
  float first = 0;
  std::memcpy(&first, file.data() + file.size() - 4 * 12 * sizeof(float), sizeof(first));
  EXPECT_THAT(rows[0], StartsWith(fmt::format("[{},", first)));

  const std::vector<std::string> found =
      Lines(RunProgram({"embed", kFolder, "--search", "A green meadow.", "--top-k", "2"}, text).out);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], "1.0000\t2\tA green meadow.");
}

TEST(Embed, InfoAndLookTakeAnEncoder) {
  EXPECT_THAT(RunProgram({"info", kFolder, "--json"}).out, HasSubstr("\"heads\":[\"pooler\"]"));
  const TemporaryFolder folder;
  const std::string page = folder.File("pair.html");
  const Outcome looked = RunProgram({"look", kFolder, "--text", "Two dogs.", "--second", "A meadow.", "--out", page});
  EXPECT_EQ(looked.exit_code, 0) << looked.err;
  EXPECT_THAT(looked.err, HasSubstr("attentions of 12 tokens"));
  EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("[SEP]"), HasSubstr("<title>Two dogs. (sentences)</title>")));
  std::string beginning;  // a title has at most 100 bytes of the text, and only whole characters
  for (int i = 0; i < 33; ++i) beginning += "\u20ac";
  MustRun({"look", kFolder, "--text", beginning + "\u20ac dogs", "--out", page});
  EXPECT_THAT(ReadFile(page), HasSubstr("<title>" + beginning + "\u2026 (sentences)</title>"));
  EXPECT_THAT(RefusalOf({"look", kFolder, "--source", "Two dogs.", "--out", page}), HasSubstr("--text"));
}

TEST(Embed, RefusesOrTruncatesLongTexts) {
  std::string text = "dog\n";
  for (int i = 0; i < 30; ++i) text += "dog ";
  const Outcome refused = RunProgram({"embed", kFolder}, text);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("standard input: line 2: 32"));
  const Outcome cut = RunProgram({"embed", kFolder, "--truncate"}, text);
  EXPECT_EQ(cut.exit_code, 0);
  EXPECT_EQ(Lines(cut.out).size(), 2U);
  EXPECT_THAT(cut.err, HasSubstr("line 2: the model reads"));
  EXPECT_THAT(RefusalOf({"embed", kFolder, "--search", "dog", "--top-k", "0"}), HasSubstr("--top-k must be at least"));
  EXPECT_NE(RunProgram({"embed", kFolder, "--search", "dog", "--out", "x.npy"}).exit_code, 0);
}

}  // namespace
}  // namespace headlight::embed_test
