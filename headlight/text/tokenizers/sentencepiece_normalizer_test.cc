#include "headlight/text/tokenizers/sentencepiece_normalizer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/text/tokenizers/vocabulary.h"

namespace headlight::sentencepiece_normalizer_test {
namespace {

std::string TestData(const std::string& name) {
  return ReadFile(std::string(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/") + name);
}

// Returns a model with the rules of nmt_nfkc. The trainer provides these rules (237 kB), so they are not in the
// repository.
SentencePieceModel NmtNfkc() {
  const std::string folder = fmt::format("{}/normalizer_{}", testing::TempDir(), getpid());
  std::filesystem::create_directories(folder);
  bool given = false;
  VocabularyOptions options;
  options.size = 20;
  TrainVocabulary(
      [&](std::string_view& line) {
        line = "a";
        return !std::exchange(given, true);
      },
      options)
      .Save(folder);
  return ParseSentencePieceModel(ReadFile(folder + "/source.spm"), "source.spm");
}

TEST(TextNormalizer, MatchesSentencePiece) {
  const SentencePieceModel model = NmtNfkc();
  EXPECT_EQ(model.normalization, "nmt_nfkc");
  const TextNormalizer normalizer(model, "nmt_nfkc");
  const std::vector<JsonView> goldens =
      JsonView(ParseJson(TestData("tokenizer_nfkc.json"), "goldens"), "goldens").Items();
  ASSERT_GT(goldens.size(), 200u);
  for (const JsonView& golden : goldens) {
    const std::vector<std::string> pair = golden.Strings();
    std::string normalized;
    normalizer.Normalize(pair[0], normalized);
    EXPECT_EQ(normalized, pair[1]) << Quoted(pair[0]);
  }
}

TEST(TextNormalizer, FollowsTheFlags) {
  SentencePieceModel model = ParseSentencePieceModel(TestData("tokenizer_bpe.model"), "small");
  const auto normalize = [&](std::string_view text) {
    std::string normalized;
    TextNormalizer(model, "small").Normalize(text, normalized);
    return normalized;
  };
  EXPECT_EQ(normalize("  a \u00a0 b  "), "\u2581a\u2581b");
  model.remove_extra_whitespaces = false;
  EXPECT_EQ(normalize(" a  b "), "\u2581\u2581a\u2581\u2581b\u2581");
  EXPECT_EQ(normalize(""), "");
  model.add_dummy_prefix = false;
  EXPECT_EQ(normalize(" a  b "), "\u2581a\u2581\u2581b\u2581");
  model.remove_extra_whitespaces = true;
  EXPECT_EQ(normalize(" a  b "), "a\u2581b");
  model.charsmap.clear();
  EXPECT_EQ(normalize(" a\u00a0 b "), "a\u00a0\u2581b");
}

TEST(TextNormalizer, RecordsTheOriginOfBytes) {
  const SentencePieceModel model = ParseSentencePieceModel(TestData("tokenizer_bpe.model"), "small");
  std::string normalized;
  std::vector<std::int32_t> origins;
  TextNormalizer(model, "small").Normalize(" la\u0308  ﬁ ", normalized, &origins);
  EXPECT_EQ(normalized, "\u2581lä\u2581fi");
  EXPECT_EQ(origins, (std::vector<std::int32_t>{1, 1, 1, 1, 2, 2, 5, 5, 5, 7, 7, 10}));
}

TEST(TextNormalizer, ReplacesInvalidUtf8) {
  const SentencePieceModel model = ParseSentencePieceModel(TestData("tokenizer_bpe.model"), "small");
  std::string normalized;
  TextNormalizer(model, "small").Normalize("a\xFF\xC3", normalized);
  EXPECT_EQ(normalized, "\u2581a\uFFFD\uFFFD");
}

}  // namespace
}  // namespace headlight::sentencepiece_normalizer_test
