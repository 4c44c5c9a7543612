#include "headlight/synthetic/scene_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/synthetic/scene_files.h"

namespace headlight::scene_scores_test {
namespace {

using testing::HasSubstr;

TEST(SceneScores, CountTrueCaptions) {
  const TemporaryFolder folder;
  const std::string captions = folder.File("captions.jsonl");
  std::string lines;
  const auto add = [&](int number, const std::string& text) {
    lines += fmt::format("{{\"image\": \"scenes/{}.png\", \"text\": \"{}\"}}\n", number, text);
  };
  const auto full = [](std::uint64_t number) { return FullCaption(DrawShapeScene(4, number, Portion::held_out)); };
  Random random(1);
  SceneCaption miss = full(7);  // one statement of the caption is false
  miss = HardNegative(random, miss, DrawShapeScene(4, 7, Portion::held_out));
  add(3, Say(full(3), SceneLanguage::english));
  add(7, Say(miss, SceneLanguage::english));
  add(9, "a red circle, a");
  WriteFile(captions, lines);
  const SceneScores scores = ScoreCaptions(captions, 4, Portion::held_out, SceneLanguage::english);
  EXPECT_EQ(scores.texts, 3);
  EXPECT_EQ(scores.understood, 2);
  EXPECT_EQ(scores.right, 1);
  EXPECT_EQ(scores.statements, std::ssize(full(3)) + std::ssize(full(7)));
  EXPECT_EQ(scores.true_statements, scores.statements - 1);
  WriteFile(captions, "{\"image\": \"scenes/x.png\", \"text\": \"a\"}\n");
  EXPECT_THAT(ErrorOf([&] { ScoreCaptions(captions, 4, Portion::held_out, SceneLanguage::english); }),
              HasSubstr("'scenes/x.png' does not begin"));
}

TEST(SceneScores, CountImagesWithTheShapesOfTheirText) {
  const TemporaryFolder folder;
  const std::string found = folder.File("found.jsonl");
  const std::vector<std::string> texts = {"a large red circle at the top left and a small blue star in the middle",
                                          "a red circle"};
  const std::string circle = R"({"label": "red circle", "score": 1, "box": [4, 4, 28, 28]})";
  const std::string star = R"({"label": "blue star", "score": 1, "box": [26, 26, 38, 38]})";
  const std::string large_star = R"({"label": "blue star", "score": 1, "box": [20, 20, 44, 44]})";
  const auto right = [&](const std::string& image, const std::string& boxes) {
    WriteFile(found, fmt::format("{{\"image\": \"drawn/{}\", \"boxes\": [{}]}}\n", image, boxes));
    const SceneScores scores = ScoreDrawings(found, texts, SceneLanguage::english, 64);
    EXPECT_EQ(scores.texts, 1);
    return scores.right;
  };
  EXPECT_EQ(right("1.png", circle + ", " + star), 1);
  EXPECT_EQ(right("1-8.png", star + ", " + circle), 1);
  EXPECT_EQ(right("1.png", circle), 0);
  EXPECT_EQ(right("1.png", circle + ", " + large_star), 0);
  EXPECT_EQ(right("1.png", circle + ", " + star + ", " + large_star), 0);  // one shape more than in the text
  EXPECT_EQ(right("1.png", ""), 0);
  EXPECT_EQ(right("2.png", circle + ", " + star), 1);  // the text does not exclude other shapes
  EXPECT_EQ(right("2.png", star), 0);
  EXPECT_THAT(ErrorOf([&] { right("3.png", star); }), HasSubstr("found.jsonl:1: an image is"));
  EXPECT_THAT(ErrorOf([&] { right("1.png", R"({"label": "dog", "score": 1, "box": [4, 4, 28, 28]})"); }),
              HasSubstr("'dog' is not a shape"));
  EXPECT_THAT(ErrorOf([&] { right("1.png", R"({"label": "red circle", "score": 1, "box": [4, 4]})"); }),
              HasSubstr("4 numbers, not 2"));
}

}  // namespace
}  // namespace headlight::scene_scores_test
