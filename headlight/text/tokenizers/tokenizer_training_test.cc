#include "headlight/text/tokenizers/tokenizer_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::tokenizer_training_test {
namespace {

using Algorithm = TokenizerAlgorithm;
using testing::HasSubstr;

// Returns five German and five English sentences, each repeated three times.
std::vector<std::string> Sentences() {
  const std::vector<std::string> texts =
      ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/tokenizers.json")["texts"].Strings();
  std::vector<std::string> lines;
  for (const std::size_t first : {0, 5})
    for (std::size_t i = 0; i < 15; ++i) lines.push_back(texts[first + i % 5]);
  return lines;
}

std::string Train(const std::vector<std::string>& lines, const TokenizerTrainingOptions& options) {
  std::size_t at = 0;
  const auto next = [&](std::string_view& line) {
    if (at == lines.size()) return false;
    line = lines[at++];
    return true;
  };
  return TrainTokenizer(next, options);
}

const std::vector<TokenizerTrainingOptions>& Kinds() {
  static const std::vector<TokenizerTrainingOptions> kinds = {
      {.algorithm = Algorithm::bpe, .byte_level = true, .size = 360},
      {.algorithm = Algorithm::bpe, .size = 140},
      {.algorithm = Algorithm::wordpiece, .size = 160},
      {.algorithm = Algorithm::unigram, .size = 120},
  };
  return kinds;
}

TEST(TokenizerTraining, CoversItsTrainingText) {
  std::vector<std::string> lines = Sentences();
  lines.push_back("  Straße\u00a0\u2028 日本 \U0001f642" + std::string(60, 'x') + "  ");
  for (const TokenizerTrainingOptions& options : Kinds()) {
    const PipelineTokenizer tokenizer = PipelineTokenizer::Parse(Train(lines, options), "tokenizer.json");
    EXPECT_LE(tokenizer.size(), options.size);
    EXPECT_GT(tokenizer.size(), options.size * 3 / 4);
    const std::vector<std::string> special = UsualSpecialTokens(options);
    for (std::size_t id = 0; id < special.size(); ++id) {
      EXPECT_EQ(tokenizer.Find(special[id]), static_cast<std::int32_t>(id));
      EXPECT_TRUE(tokenizer.IsSpecial(static_cast<std::int32_t>(id)));
    }
    const std::optional<std::int32_t> unknown =
        tokenizer.Find(options.algorithm == Algorithm::wordpiece ? "[UNK]" : "<unk>");
    std::size_t tokens = 0, characters = 0;
    for (const std::string& line : lines) {
      const std::vector<std::int32_t> ids = tokenizer.Encode(line, {.add_special = false}).ids;
      EXPECT_THAT(ids, testing::Not(testing::Contains(unknown.value_or(-1)))) << line;
      tokens += ids.size();
      characters += line.size();
      const bool plain = line.front() != ' ' && options.algorithm != Algorithm::wordpiece;
      if (options.byte_level || plain) {
        EXPECT_EQ(tokenizer.Decode(ids), line);
      }
    }
    EXPECT_LT(2 * tokens, characters);  // tokens are longer than single characters
  }
  const PipelineTokenizer bytes = PipelineTokenizer::Parse(Train({"a"}, Kinds()[0]), "tokenizer.json");
  EXPECT_EQ(bytes.Decode(bytes.Encode("日本\n\U0001f642").ids), "日本\n\U0001f642");
}

TEST(TokenizerTraining, DoesNotDependOnThreads) {
  const int threads = Threads();
  for (const TokenizerTrainingOptions& options : Kinds()) {
    SetThreads(1);
    const std::string one = Train(Sentences(), options);
    SetThreads(3);
    EXPECT_TRUE(Train(Sentences(), options) == one);
  }
  SetThreads(threads);
}

// Compares with the library's trainer, which is deterministic for byte-level BPE.
TEST(TokenizerTraining, MatchesTheTokenizersLibraryForByteLevelBpe) {
  const JsonView theirs = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_gpt2.json");
  const JsonView ours(ParseJson(Train(Sentences(), Kinds()[0]), "ours"), "ours");
  EXPECT_EQ(ours["model"]["vocab"].value(), theirs["model"]["vocab"].value());
  EXPECT_EQ(ours["model"]["merges"].value(), theirs["model"]["merges"].value());
}

TEST(TokenizerTraining, AddsSpecialTokensAroundTexts) {
  const PipelineTokenizer bert = PipelineTokenizer::Parse(Train(Sentences(), Kinds()[2]), "tokenizer.json");
  const Encoding pair = bert.EncodePair("A dog", "Hund");
  EXPECT_EQ(pair.ids.front(), bert.Find("[CLS]"));
  EXPECT_EQ(pair.ids.back(), bert.Find("[SEP]"));
  EXPECT_EQ(pair.type_ids.back(), 1);
  const PipelineTokenizer t5 = PipelineTokenizer::Parse(Train(Sentences(), Kinds()[3]), "tokenizer.json");
  EXPECT_EQ(t5.Encode("A dog").ids.back(), t5.Find("</s>"));
  TokenizerTrainingOptions own = Kinds()[3];
  own.special = {"[UNK]", "<name>"};
  const PipelineTokenizer named = PipelineTokenizer::Parse(Train(Sentences(), own), "tokenizer.json");
  EXPECT_THAT(named.Encode("A <name>").ids, testing::Contains(1));
}

TEST(TokenizerTraining, SplitsDigits) {
  std::vector<std::string> lines = Sentences();
  lines.insert(lines.end(), 50, "in 1984 and 1984, 19 of 84");
  for (TokenizerTrainingOptions options : Kinds()) {
    const auto longest_number = [&](bool split) {
      options.split_digits = split;
      const PipelineTokenizer tokenizer = PipelineTokenizer::Parse(Train(lines, options), "tokenizer.json");
      std::ptrdiff_t longest = 0;
      for (const std::int32_t id : tokenizer.Encode("in 1984, \u0663\u0664x7").ids)
        longest =
            std::max(longest, std::ranges::count_if(tokenizer.Piece(id), [](char c) { return c >= '0' && c <= '9'; }));
      return longest;
    };
    EXPECT_GT(longest_number(false), 1);
    EXPECT_EQ(longest_number(true), 1);
  }
}

// Checks that words with count 1 are dropped if there are too many words.
TEST(TokenizerTraining, DropsRareWordsBeyondTheMemoryLimit) {
  std::vector<std::string> lines(200, "dog dog Hund");
  for (int i = 0; i < 1000; ++i) lines.push_back(fmt::format("\u0436{}", i));
  TokenizerTrainingOptions options = Kinds()[1];
  EXPECT_THAT(Train(lines, options), HasSubstr("\"\u0436\""));
  options.most_bytes = 10000;
  const std::string json = Train(lines, options);
  EXPECT_THAT(json, testing::Not(HasSubstr("\u0436")));
  EXPECT_THAT(json, HasSubstr("\"\u2581Hund\""));
}

TEST(TokenizerTraining, ErrorsNameTheProblem) {
  const auto error = [](const TokenizerTrainingOptions& options, const std::vector<std::string>& lines) {
    return ErrorOf([&] { Train(lines, options); });
  };
  EXPECT_THAT(error({.algorithm = Algorithm::unigram, .byte_level = true}, {"a"}), HasSubstr("only BPE can be byte"));
  EXPECT_THAT(error({.byte_level = true, .size = 200}, {"a"}), HasSubstr("`vocabulary_size` is 200"));
  EXPECT_THAT(error({.algorithm = Algorithm::unigram, .size = 5}, {"dog"}), HasSubstr("special tokens need 7"));
  EXPECT_THAT(error({.size = 0}, {"a"}), HasSubstr("must be from 1 to"));
  EXPECT_THAT(error({}, {}), HasSubstr("0 lines, none with"));
  EXPECT_THAT(error({.byte_level = true}, {" ", "\t"}), HasSubstr("2 lines, none with"));
  EXPECT_THAT(error({.algorithm = Algorithm::wordpiece}, {" ", ""}), HasSubstr("2 lines, none with"));
  EXPECT_THAT(error({}, {"a", "\xff"}), HasSubstr("line 2: byte 0"));
  EXPECT_THAT(error({.special = {"<s>"}}, {"a"}), HasSubstr("<unk> or [UNK]"));
  EXPECT_THAT(error({.special = {"<unk>", "<unk>"}}, {"a"}), HasSubstr("<unk> is given twice"));
  EXPECT_THAT(error({.special = {"<unk>", ""}}, {"a"}), HasSubstr("a special token is empty"));
}

}  // namespace
}  // namespace headlight::tokenizer_training_test
