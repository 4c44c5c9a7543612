#include "headlight/protein/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "headlight/base/gzip_testing.h"
#include "headlight/base/test_support.h"
#include "headlight/protein/residues.h"
#include "headlight/protein/testing.h"

namespace headlight::alignment_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AlignmentTest : public testing::Test {
 protected:
  Alignment Read(std::string_view text, AlignmentOptions options = {}) {
    return ReadAlignment(WriteText(folder_.File("query.a3m"), text), std::move(options));
  }
  std::string Failure(std::string_view text, AlignmentOptions options = {}) {
    return ErrorOf([&] { Read(text, std::move(options)); });
  }

  TemporaryFolder folder_;
};

// Formats a row as its letters and gaps. If a column has deletions, their number is written before it.
std::string TextOf(const AlignmentRow& row) {
  std::string text;
  for (std::size_t i = 0; i < row.residues.size(); ++i) {
    if (row.deletions[i] > 0) text += std::to_string(row.deletions[i]);
    text += row.residues[i] == kGap ? '-' : ResidueTypes()[row.residues[i]].letter;
  }
  return text;
}

std::vector<std::string> TextsOf(const Alignment& alignment) {
  std::vector<std::string> texts;
  for (const AlignmentRow& row : alignment.rows) texts.push_back(TextOf(row));
  return texts;
}

TEST_F(AlignmentTest, A3mCountsDeletions) {
  const Alignment alignment = Read("# a comment\n>query\nMKV\nLA\n>one two\nMaaK-LcA\n>three\n--VLAddd\n>\nbMBZUJ\n");
  EXPECT_THAT(TextsOf(alignment), ElementsAre("MKVLA", "M2K-L1A", "--VLA", "1MDECX"));
  EXPECT_EQ(alignment.rows[1].name, "one two");
}

TEST_F(AlignmentTest, A2mAndFastaGiveTheSameRows) {
  EXPECT_THAT(TextsOf(Read(">query\nM..KV\n>one\nMaaK-\n>two\nMa.KV\n")), ElementsAre("MKV", "M2K-", "M1KV"));
  // In aligned FASTA, a column in which the query has a gap is dropped. The letters of other rows in it are deletions.
  EXPECT_THAT(TextsOf(Read(">query\n-M-KV-\n>one\nAM-K-A\n>two\n-MCK--\n")), ElementsAre("MKV", "1MK-", "M1K-"));
}

TEST_F(AlignmentTest, StockholmJoinsItsBlocks) {
  const std::string text =
      "# STOCKHOLM 1.0\n\n#=GS one DE a name\nquery  MK.v\none/1-5 MKa-\n#=GC RF  xx.x\n\nquery  LA\none/1-5 _~\n//\n";
  const Alignment alignment = Read(text);
  EXPECT_THAT(TextsOf(alignment), ElementsAre("MKVLA", "MK1---"));
  EXPECT_EQ(alignment.rows[1].name, "one/1-5");
  EXPECT_THAT(TextsOf(Read(Gzip(text), {.query = "", .most_rows = 1})), ElementsAre("MKVLA"));
}

TEST_F(AlignmentTest, RefusesInvalidFiles) {
  EXPECT_THAT(Failure(""), HasSubstr("query.a3m: no alignment"));
  EXPECT_THAT(Failure("MKV\n"), HasSubstr("an alignment begins with >"));
  EXPECT_THAT(Failure(">query\nMKV\n>a\nMK\n"), HasSubstr("line 3: 'a' has 2"));
  EXPECT_THAT(Failure(">query\nMKV\n>a\nMK?V\n"), HasSubstr("'?' is neither"));
  EXPECT_THAT(Failure(">query\n---\n"), HasSubstr("'query', has no residues"));
  EXPECT_THAT(Failure(">query\n>a\n"), HasSubstr("has no residues"));
  EXPECT_THAT(Failure(">query\nMKV\n", {.query = "MKVL"}), HasSubstr("'query', has 3 residues"));
  EXPECT_THAT(Failure(">query\nM-KV\n", {.query = "MKL"}), HasSubstr("has V as residue 3"));
  EXPECT_EQ(Failure(">query\nMBV\n", {.query = "mbv"}), "");
  EXPECT_THAT(Failure(">query\n" + std::string(kMostResidues + 1, 'm')), HasSubstr("more than 131072 letters"));
  EXPECT_THAT(Failure("# STOCKHOLM 1.0\nquery MKV\n"), HasSubstr("ends without the line //"));
  EXPECT_THAT(Failure("# STOCKHOLM 1.0\n//\n"), HasSubstr("has no rows"));
  EXPECT_THAT(Failure("# STOCKHOLM 1.0\nquery\n//\n"), HasSubstr("line 2: a Stockholm line"));
  EXPECT_THAT(Failure("# STOCKHOLM 1.0\nquery MKV\na MK\n//\n"), HasSubstr("row 2: 'a'"));
  EXPECT_THAT(Failure("# STOCKHOLM 1.0\nquery MKV\n//\nquery MKV\n//\n"), HasSubstr("line 4: there is text"));
}

TEST_F(AlignmentTest, HandlesMarksCaseAndStopsLikeFasta) {
  const std::string text = ">query\nMKVLA\n>one\nMaaK-LcA\n";
  const std::vector<std::string> expected = {"MKVLA", "M2K-L1A"};
  EXPECT_EQ(TextsOf(Read("\xEF\xBB\xBF" + text)), expected);
  EXPECT_EQ(TextsOf(Read("\xEF\xBB\xBF#A3M#\n" + text)), expected);
  EXPECT_EQ(TextsOf(Read(text + std::string(1, '\0'))), expected);
  EXPECT_EQ(TextsOf(Read(text.substr(0, 13) + std::string(1, '\0') + text.substr(13))), expected);
  EXPECT_THAT(Failure(">query\nMK" + std::string(1, '\0') + "V\n"), HasSubstr("byte 2 is a NUL"));
  EXPECT_EQ(TextsOf(Read(">ss_pred\nCCHHC\n>ss_conf\n98765\n>sa_dssp x\n?\n" + text)), expected);
  EXPECT_EQ(TextsOf(Read(">query\nmkvla\n>one\nMaaK-LcA\n")), expected);
  EXPECT_EQ(TextsOf(Read(">query\nMKVLA*\n>one\nMaaK-LcA*\n")), expected);
  EXPECT_EQ(TextsOf(Read(text, {.query = "mkv la*"})), expected);
  EXPECT_THAT(Failure(">ss_pred\nCHC\n"), HasSubstr("all its rows are annotations"));
  EXPECT_THAT(Failure(">query\nMK*V\n"), HasSubstr("'*' is neither a letter"));
  // In a row with letters of both cases, the lower-case letters are insertions, even in the query.
  EXPECT_EQ(Read(">query\nMkV\n").rows[0].residues.size(), 2U);
}

TEST_F(AlignmentTest, RefusesHeadersOfComplexes) {
  const std::string text = ">101\nMKVLA\n";
  EXPECT_THAT(Failure("#3,2\t1,1\n" + text), HasSubstr("a complex of 2 chains"));
  EXPECT_THAT(Failure("#5\t2\n" + text), HasSubstr("line 1: '#5\\x092' is ColabFold"));
  EXPECT_THAT(Failure("#5\t1\n" + text + std::string(1, '\0') + "#5,5\t1,2\n>102\nMKVLA\n"),
              HasSubstr("line 4: '#5,5\\x091,2' is ColabFold"));
  for (const char* const header : {"#5\t1\n", "#A3M#\n", "# a\t2\n", "#5,\t1,1\n"})
    EXPECT_THAT(TextsOf(Read(header + text)), ElementsAre("MKVLA")) << header;
}

// Checks that 200,000 rows, 25 MB of text, are read with a few megabytes of memory.
TEST_F(AlignmentTest, ManyRowsTakeLittleMemory) {
  const std::string path = folder_.File("deep.a3m.gz");
  {
    std::string row = ">row\n";
    for (int i = 0; i < 42; ++i) row += i % 7 == 0 ? "a" : "MK";
    row += '\n';
    gzFile file = gzopen(path.c_str(), "wb1");
    std::string chunk;
    for (int i = 0; i < 1000; ++i) chunk += row;
    for (int i = 0; i < 200; ++i) gzwrite(file, chunk.data(), static_cast<unsigned>(chunk.size()));
    gzclose(file);
  }
  const auto peak = [] {  // Returns the peak memory in KiB.
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const auto before = peak();
  AlignmentReader reader(path);
  std::int64_t rows = 0, deletions = 0;
  while (const auto row = reader.Next()) {
    ++rows;
    for (const std::int32_t count : row->deletions) deletions += count;
  }
  EXPECT_EQ(rows, 200000);
  EXPECT_EQ(reader.columns(), 72);
  EXPECT_EQ(deletions, 6 * rows);
  EXPECT_LT(peak() - before, 8 << 10);
}

}  // namespace
}  // namespace headlight::alignment_test
