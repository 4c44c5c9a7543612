#include "headlight/protein/sequences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/gzip_testing.h"
#include "headlight/base/test_support.h"
#include "headlight/protein/residues.h"
#include "headlight/protein/testing.h"

namespace headlight::sequences_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FastaTest : public testing::Test {
 protected:
  std::string Write(std::string_view text) { return WriteText(folder_.File("query.fasta"), text); }
  // Formats each sequence as NAME:LETTERS.
  std::vector<std::string> Read(std::string_view text) {
    FastaReader reader(Write(text));
    std::vector<std::string> sequences;
    while (const auto sequence = reader.Next()) sequences.push_back(sequence->name + ":" + sequence->letters);
    return sequences;
  }
  std::string Failure(std::string_view text) {
    return ErrorOf([&] { Read(text); });
  }

  TemporaryFolder folder_;
};

TEST_F(FastaTest, ReadsSequences) {
  EXPECT_THAT(Read(">a one\nMKV\nLA\n\n>b\r\nacD eF\r\n"), ElementsAre("a one:MKVLA", "b:ACDEF"));
  EXPECT_THAT(Read("\n>  spaced \nM*\n>\nXBZUOJ"), ElementsAre("spaced:M", ":XBZUOJ"));
  EXPECT_THAT(Read(""), ElementsAre());
  EXPECT_THAT(Read(Gzip(">a\nMKV\n")), ElementsAre("a:MKV"));
}

TEST_F(FastaTest, RefusesInvalidSequences) {
  EXPECT_THAT(Failure("MKV\n"), HasSubstr("line 1: not FASTA: 'MKV'"));
  EXPECT_THAT(Failure(">a\nMK\nM1V\n"), HasSubstr("line 3: '1' is not"));
  EXPECT_THAT(Failure(">a\nM-V\n"), HasSubstr("line 2: gaps"));
  EXPECT_THAT(Failure(">a\n>b\nM\n"), HasSubstr("'a' has no residues"));
  EXPECT_THAT(Failure(">a\nM*V\n"), HasSubstr("line 2: there are letters after"));
  EXPECT_THAT(Failure(">a\n" + std::string(kMostResidues + 1, 'M')), HasSubstr("more than 131072 residues"));
  EXPECT_THAT(Failure(">a\nM\xc3\xa4\n"), HasSubstr("line 2: the byte 0xc3"));
  EXPECT_THAT(Failure(Gzip(">a\nMKVAAAAAAA\n").substr(0, 20)), HasSubstr("truncated"));
  EXPECT_EQ(Read(">a\n" + std::string(kMostResidues, 'M')).size(), 1U);
}

TEST_F(FastaTest, HandlesMarksCaseAndStopsLikeAlignments) {
  EXPECT_THAT(Read("\xEF\xBB\xBF>a\nmkv*\n" + std::string(1, '\0') + ">b\nLA\n" + std::string(1, '\0')),
              ElementsAre("a:MKV", "b:LA"));
  EXPECT_THAT(Read(">ss_pred\nCHC\n>ss_conf\n987\n>a\nMKV\n>ss_dssp of b\n\n>b\nLA\n"), ElementsAre("a:MKV", "b:LA"));
  EXPECT_EQ(LettersOf(" mkv la*", "--sequence"), "MKVLA");
  EXPECT_THAT(ErrorOf([] { LettersOf("MKV*A", "--sequence"); }), HasSubstr("--sequence: there are letters after"));
  EXPECT_THAT(ErrorOf([] { LettersOf("MKV:LA", "--sequence"); }), HasSubstr("':' separates the chains"));
  EXPECT_THAT(Failure(">a\nMKV:LA\n"), HasSubstr("line 2: ':' separates"));
}

TEST_F(FastaTest, ContinuesAfterABadSequence) {
  FastaReader reader(Write(">a\nM1\nKKK\n>b\nMK\n>c\n>d\nM"));
  EXPECT_THAT(ErrorOf([&] { reader.Next(); }), HasSubstr("line 2"));
  EXPECT_EQ(reader.Next()->letters, "MK");
  EXPECT_THAT(ErrorOf([&] { reader.Next(); }), HasSubstr("'c' has no residues"));
  const auto last = reader.Next();
  EXPECT_EQ(last->name, "d");
  EXPECT_EQ(last->line, 7);
  EXPECT_FALSE(reader.Next().has_value());
}

TEST(ResidueLetters, AreReadAsInHhblits) {
  EXPECT_THAT(ResiduesOf("ARNDCQEGHILKMFPSTWYVX"), testing::ElementsAreArray([] {
                std::vector<int> all(kResidueTypes);
                for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
                return all;
              }()));
  EXPECT_EQ(ResiduesOf("BZUOJ"), ResiduesOf("DECXX"));
  EXPECT_EQ(ResiduesOf("arn"), ResiduesOf("ARN"));
  EXPECT_THAT(ErrorOf([] { ResiduesOf("A-"); }), HasSubstr("'-' is not"));
}

}  // namespace
}  // namespace headlight::sequences_test
