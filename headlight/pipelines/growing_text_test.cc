#include "headlight/pipelines/growing_text.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/random.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::growing_text_test {
namespace {

// A tokenizer that counts the tokens it decodes.
struct CountingTokenizer : Tokenizer {
  explicit CountingTokenizer(PipelineTokenizer counted) : Tokenizer({}, {}), tokenizer(std::move(counted)) {}
  std::vector<std::int32_t> Encode(std::string_view text, Side side, std::vector<TextSpan>* spans) const override {
    return tokenizer.Encode(text, side, spans);
  }
  std::string Decode(std::span<const std::int32_t> ids) const override {
    decoded += ids.size();
    return tokenizer.Decode(ids);
  }
  const std::string& Piece(std::int32_t id) const override { return tokenizer.Piece(id); }
  std::optional<std::int32_t> FindSpecial(std::string_view name) const override { return tokenizer.FindSpecial(name); }
  std::int32_t size() const override { return tokenizer.size(); }

  PipelineTokenizer tokenizer;
  mutable std::size_t decoded = 0;
};

struct GrowingTextTest : testing::TestWithParam<const char*> {
  const CountingTokenizer tokenizer{PipelineTokenizer::Parse(
      ReadFile(std::string(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_") + GetParam() + ".json"),
      GetParam())};
};
INSTANTIATE_TEST_SUITE_P(, GrowingTextTest,
                         testing::Values("bert_uncased", "bert_cased", "gpt2", "roberta", "roberta_prefix", "gpt1",
                                         "added", "t5", "deberta", "first", "byte_fallback"),
                         [](const auto& which) { return which.param; });

TEST_P(GrowingTextTest, EqualsDecodingAllTokens) {
  Random random(1);
  for (const bool bytes_alone : {false, true})
    for (int text = 0; text < 20; ++text) {
      GrowingText growing(tokenizer);
      std::vector<std::int32_t> ids;
      std::string stable;
      while (ids.size() < 150) {
        const auto id = static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(tokenizer.size())));
        // Byte pieces produce incomplete and invalid characters, and runs of byte pieces.
        const std::string& piece = tokenizer.Piece(id);
        if (bytes_alone && piece.size() > 2 && !piece.starts_with("<0x") && random.Uniform() < 0.95) continue;
        ids.push_back(id);
        growing.Add({&id, 1});
        const std::string whole = tokenizer.tokenizer.Decode(ids);
        ASSERT_EQ(growing.text(), whole) << ids.size();
        ASSERT_TRUE(growing.text().starts_with(stable)) << ids.size();
        stable = growing.text().substr(0, growing.stable());
      }
    }
}

TEST_P(GrowingTextTest, DecodesLinearlyManyTokens) {
  Random random(1);
  const auto decoded = [&](int tokens) {
    tokenizer.decoded = 0;
    GrowingText growing(tokenizer);
    for (int i = 0; i < tokens; ++i) {
      const auto id = static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(tokenizer.size())));
      growing.Add({&id, 1});
    }
    return tokenizer.decoded;
  };
  EXPECT_LT(decoded(8000), 30 * 8000);
}

TEST_P(GrowingTextTest, OmitsThePrompt) {
  const std::vector<std::int32_t> prompt = tokenizer.Encode("two dogs", Side::source, nullptr);
  const std::vector<std::int32_t> both = tokenizer.Encode("two dogs run", Side::source, nullptr);
  GrowingText growing(tokenizer, prompt);
  EXPECT_EQ(growing.text(), "");
  const std::string before = tokenizer.tokenizer.Decode(prompt), all = tokenizer.tokenizer.Decode(both);
  ASSERT_TRUE(std::ranges::equal(std::span(both).first(prompt.size()), prompt));
  EXPECT_TRUE(growing.Add(std::span(both).subspan(prompt.size())));
  EXPECT_EQ(growing.text(), all.substr(before.size()));
  EXPECT_FALSE(growing.Add({}));
}

}  // namespace
}  // namespace headlight::growing_text_test
