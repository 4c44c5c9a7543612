#include "headlight/pipelines/split_text.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/pipelines/testing.h"

namespace headlight::split_text_test {
namespace {

using testing::ElementsAre;

struct SplitTextTest : testing::Test {
  SplitTextTest() {
    SaveTinyModel(folder.path());
    tokenizer.emplace(MarianTokenizer::Load(folder.path()));
  }
  std::vector<std::string> Split(const std::string& text, std::int64_t most) const {
    std::vector<std::string> parts;
    for (const TextPart& part : SplitText(*tokenizer, text, most)) {
      EXPECT_LE(static_cast<std::int64_t>(part.tokens.size()), most);
      EXPECT_EQ(part.tokens.size(), part.spans.size());
      parts.emplace_back(part.text);
    }
    return parts;
  }

  TemporaryFolder folder;
  std::optional<MarianTokenizer> tokenizer;
};

TEST_F(SplitTextTest, KeepsATextThatFits) { EXPECT_THAT(Split("Ein Hund.", 20), ElementsAre("Ein Hund.")); }

TEST_F(SplitTextTest, PrefersSentencesToClausesToWords) {
  // The space between two parts may belong to either part.
  const auto expect = [&](const std::string& first, const std::string& second) {
    const std::string space = " ";
    EXPECT_THAT(Split(first + space + second, 20),
                testing::AnyOf(ElementsAre(first + space, second), ElementsAre(first, space + second)));
  };
  expect("aaaa, bbb bb.", "cccc dd, ee fff");
  expect("aaaa bbb,", "cc cccc dddee fff");
  expect("aaaaaaa bbbbbbbbbb", "ccccccccc");
  expect("(aaa aaa bbbbb.)", "ccc cccccc d");
}

TEST_F(SplitTextTest, SplitsTextsWithoutSpaces) {
  std::string joined;
  for (const std::string& part : Split(std::string(1000, 'a'), 7)) joined += part;
  EXPECT_EQ(joined, std::string(1000, 'a'));
  joined.clear();
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "äu";
  for (const std::string& part : Split(umlauts, 5)) joined += part;
  EXPECT_EQ(joined, umlauts);
}

TEST_F(SplitTextTest, RepeatsTheLanguageInEveryPart) {
  std::string vocabulary = ReadFile(folder.File("vocab.json"));
  vocabulary.replace(vocabulary.find("\"Z\""), 3, "\">>fra<<\"");
  WriteFile(folder.File("vocab.json"), vocabulary);
  const MarianTokenizer multilingual = MarianTokenizer::Load(folder.path());
  const std::int32_t language = multilingual.Encode(">>fra<<").front();
  const std::vector<TextPart> parts = SplitText(multilingual, ">>fra<< aaa bbb. aaa bbb. aaa bbb.", 12);
  ASSERT_GT(parts.size(), 1U);
  for (const TextPart& part : parts) {
    EXPECT_EQ(part.tokens.front(), language);
    EXPECT_EQ(std::ranges::count(part.tokens, language), 1);
    EXPECT_EQ(part.tokens.size(), part.spans.size());
    EXPECT_LE(part.tokens.size(), 12U);
  }
}

TEST_F(SplitTextTest, RefusesLimitsBelowOneCharacter) {
  EXPECT_THAT(ErrorOf([&] { Split("aa", 0); }), testing::HasSubstr("reads at most 0"));
}

}  // namespace
}  // namespace headlight::split_text_test
