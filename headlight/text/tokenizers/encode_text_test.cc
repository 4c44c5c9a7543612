#include "headlight/text/tokenizers/encode_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/marian_tokenizer.h"
#include "headlight/text/tokenizers/vocabulary.h"

namespace headlight::encode_text_test {
namespace {

TEST(EncodeOneText, MatchesATokenizerWithoutSides) {
  const std::string folder = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/answer";
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  EXPECT_FALSE(HasSides(tokenizer));
  for (const EncodeOptions& how :
       {EncodeOptions{}, EncodeOptions{.add_special = false}, EncodeOptions{.read_special = false}}) {
    const Encoding expected = tokenizer.Encode("two men</s> run", how);
    const Encoding made = EncodeOneText(tokenizer, "two men</s> run", how, Side::target);
    EXPECT_EQ(made.ids, expected.ids);
    EXPECT_EQ(made.spans, expected.spans);
    EXPECT_EQ(made.type_ids, expected.type_ids);
    EXPECT_EQ(made.texts, expected.texts);
  }
}

TEST(EncodeOneText, AppendsTheEndOnEitherSide) {
  int line = 0;
  const MarianTokenizer tokenizer = TrainVocabulary(
      [&](std::string_view& text) {
        text = "two dogs run, and two cats sleep";
        return line++ < 3;
      },
      {.size = 25});
  EXPECT_TRUE(HasSides(tokenizer));
  for (const Side side : {Side::source, Side::target}) {
    std::vector<TextSpan> spans;
    std::vector<std::int32_t> ids = tokenizer.Encode("two dogs", side, &spans);
    const Encoding bare = EncodeOneText(tokenizer, "two dogs", {.add_special = false}, side);
    EXPECT_EQ(bare.ids, ids);
    EXPECT_EQ(bare.spans, spans);
    EXPECT_EQ(bare.texts, std::vector<std::int32_t>(ids.size(), 0));
    const Encoding whole = EncodeOneText(tokenizer, "two dogs", {}, side);
    ids.push_back(tokenizer.eos());
    spans.emplace_back();
    EXPECT_EQ(whole.ids, ids);
    EXPECT_EQ(whole.spans, spans);
    EXPECT_EQ(whole.type_ids, std::vector<std::int32_t>(ids.size(), 0));
    EXPECT_EQ(whole.texts.back(), -1);
  }
}

}  // namespace
}  // namespace headlight::encode_text_test
