#include "headlight/text/metrics/entities.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

namespace headlight::entities_test {
namespace {

// Splits a text such as "B-PER I-PER O" into tags.
struct Tags {
  explicit Tags(const std::string& text) {
    std::istringstream words(text);
    for (std::string word; words >> word;) kept.push_back(word);
    views.assign(kept.begin(), kept.end());
  }
  std::vector<std::string> kept;
  std::vector<std::string_view> views;
};

std::string SpansOf(const std::string& text) {
  const Tags tags(text);
  std::string spans;
  for (const Entity& entity : EntitiesOf(tags.views))
    spans += fmt::format("{}{}-{} ", entity.name, entity.begin, entity.end);
  return spans;
}

TEST(Entities, BeginAtBAndAfterAnotherTag) {
  EXPECT_EQ(SpansOf("B-PER I-PER O B-LOC"), "PER0-2 LOC3-4 ");
  EXPECT_EQ(SpansOf("B-PER B-PER I-PER"), "PER0-1 PER1-3 ");
  EXPECT_EQ(SpansOf("I-PER I-PER O I-PER"), "PER0-2 PER3-4 ");  // IOB1, and invalid tags that a model can output
  EXPECT_EQ(SpansOf("B-PER I-LOC I-LOC"), "PER0-1 LOC1-3 ");
  EXPECT_EQ(SpansOf("I-LOC B-LOC I-PER"), "LOC0-1 LOC1-2 PER2-3 ");
  EXPECT_EQ(SpansOf("O O"), "");
  EXPECT_EQ(SpansOf(""), "");
  EXPECT_EQ(SpansOf("NN NN DT"), "NN0-2 DT2-3 ");
  EXPECT_EQ(SpansOf("I- I-O O I-O"), "0-1 O1-2 O3-4 ");  // unusual labels
  EXPECT_EQ(SpansOf("B-A-B I-A-B I-A"), "A-B0-2 A2-3 ");
}

// Compares with seqeval 1.2.2.
TEST(Entities, EndAtE) {
  EXPECT_EQ(SpansOf("S-PER S-PER B-PER E-PER E-PER"), "PER0-1 PER1-2 PER2-4 PER4-5 ");
  EXPECT_EQ(SpansOf("B-PER I-PER E-PER I-PER O E-LOC"), "PER0-3 PER3-4 LOC5-6 ");
  EXPECT_EQ(SpansOf("B-PER S-PER I-PER B-LOC E-PER"), "PER0-1 PER1-2 PER2-3 LOC3-4 PER4-5 ");
  EXPECT_EQ(SpansOf("U-PER B-LOC L-LOC"), "PER0-1 LOC1-3 ");
}

TEST(Entities, AreRecognizedByTheirTags) {
  EXPECT_TRUE(AreSpanTags(std::vector<std::string>{"O", "B-PER", "I-LOC"}));
  EXPECT_TRUE(AreSpanTags(std::vector<std::string>{"I-X"}));
  EXPECT_TRUE(AreSpanTags(std::vector<std::string>{"O", "B-PER", "I-PER", "E-PER", "S-PER"}));
  EXPECT_FALSE(AreSpanTags(std::vector<std::string>{"O", "B-PER", "NN"}));
  EXPECT_FALSE(AreSpanTags(std::vector<std::string>{"O"}));
  EXPECT_FALSE(AreSpanTags(std::vector<std::string>{"B-", "O"}));
}

// Compares with counts made by hand. As in conlleval, a span is correct if its bounds and its name match.
TEST(EntityScore, CountsExactSpans) {
  EntityScore score;
  EXPECT_EQ(score.f1(), 0);
  EXPECT_EQ(score.precision(), 0);
  const auto add = [&](const std::string& right, const std::string& found) {
    score.Add(Tags(right).views, Tags(found).views);
  };
  add("B-PER I-PER O B-LOC", "B-PER I-PER O B-LOC");  // 2 true, 2 predicted, 2 correct
  EXPECT_EQ(score.f1(), 1);
  add("B-PER I-PER O B-LOC", "B-PER O O B-ORG");  // 2 true, 2 predicted, 0 correct: one span is too short
  add("O O O O", "O B-PER I-PER O");              // 0 true, 1 predicted, 0 correct
  add("B-ORG I-ORG I-ORG", "I-ORG I-ORG I-ORG");  // 1 true, 1 predicted, 1 correct: a span can begin with I
  add("B-LOC B-LOC", "B-LOC I-LOC");              // 2 true, 1 predicted, 0 correct
  EXPECT_DOUBLE_EQ(score.precision(), 3.0 / 7);
  EXPECT_DOUBLE_EQ(score.recall(), 3.0 / 7);
  EXPECT_DOUBLE_EQ(score.f1(), 3.0 / 7);
  add("B-LOC O", "O O");  // 1 true, 0 predicted, 0 correct
  EXPECT_DOUBLE_EQ(score.recall(), 3.0 / 8);
  EXPECT_DOUBLE_EQ(score.f1(), 2 * (3.0 / 7) * (3.0 / 8) / (3.0 / 7 + 3.0 / 8));
}

// Checks the example of seqeval's documentation.
TEST(EntityScore, MatchesSeqeval) {
  EntityScore score;
  score.Add(Tags("O O O B-MISC I-MISC I-MISC O").views, Tags("O O B-MISC I-MISC I-MISC I-MISC O").views);
  score.Add(Tags("B-PER I-PER O").views, Tags("B-PER I-PER O").views);
  EXPECT_DOUBLE_EQ(score.f1(), 0.5);
  ASSERT_EQ(score.by_name().size(), 2U);
  EXPECT_EQ(score.by_name().at("MISC").f1(), 0);
  EXPECT_EQ(score.by_name().at("PER").f1(), 1);
}

}  // namespace
}  // namespace headlight::entities_test
