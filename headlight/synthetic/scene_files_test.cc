#include "headlight/synthetic/scene_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "headlight/base/test_support.h"
#include "headlight/data/detection.h"
#include "headlight/data/image_texts.h"
#include "headlight/data/images.h"
#include "headlight/data/records.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/voc.h"
#include "headlight/synthetic/scene_questions.h"

namespace headlight::scene_files_test {
namespace {

constexpr SceneOptions kScenes = {.height = 32, .width = 48, .fewest = 0, .most = 3};

TEST(SceneFiles, ContainScenesForDetection) {
  const TemporaryFolder folder;
  WriteScenes(folder.File("scenes"), 5, 3, kScenes);
  std::vector<std::string> labels;
  const DetectionSet set =
      ReadDetectionSet({folder.File("scenes/annotations.json")}, {}, labels, NewLabels::added, ReadVoc);
  EXPECT_EQ(labels, SceneLabels());
  ASSERT_EQ(set.examples.size(), 5U);
  EXPECT_EQ(set.without_area, 0);
  for (std::size_t i = 0; i < 5; ++i) {
    const Scene scene = DrawScene(3, i, kScenes);
    EXPECT_EQ(ReadImage(set.examples[i].image), scene.image);
    EXPECT_EQ(set.examples[i].boxes, scene.boxes);
    EXPECT_EQ(set.examples[i].width, 48);
  }
}

TEST(SceneFiles, ContainShapesAndTheirClasses) {
  const TemporaryFolder folder;
  const SceneOptions one = {.height = 32, .width = 48, .fewest = 1, .most = 1};
  WriteShapes(folder.File("some"), 40, 1, kScenes);
  std::vector<std::string> labels;
  const ImageList list = ListLabeledImages(
      {folder.File("some-images-idx4-ubyte"), folder.File("some-labels-idx1-ubyte")}, labels, NewLabels::added);
  EXPECT_EQ(labels, (std::vector<std::string>{"0", "1", "2", "3", "4", "5"}));
  std::size_t drawn = 0;
  for (std::uint64_t number = 0; number < 40; ++number) {
    const Scene scene = DrawScene(1, number, one);
    if (scene.boxes.empty()) continue;
    ASSERT_LT(drawn, list.sources.size());
    EXPECT_EQ(ReadImage(list.sources[drawn]), scene.image);
    EXPECT_EQ(list.labels[drawn++], scene.boxes.front().label);
  }
  EXPECT_EQ(drawn, list.sources.size());
  EXPECT_GT(drawn, 30U);
}

TEST(SceneFiles, ContainCaptionsAndQuestions) {
  const TemporaryFolder folder;
  const ShapeSceneOptions small = {.side = 32};
  WriteShapeScenes(folder.File("scenes"), 30, 7, Portion::held_out, small);
  std::vector<std::string> labels;
  const DetectionSet boxes =
      ReadDetectionSet({folder.File("scenes/annotations.json")}, {}, labels, NewLabels::added, ReadVoc);
  ASSERT_EQ(boxes.examples.size(), 30U);
  ASSERT_EQ(labels.size(), 48U);
  EXPECT_EQ(labels[0], "red circle");
  EXPECT_EQ(labels[47], "purple ring");
  for (const auto& [language, ending] :
       {std::pair(SceneLanguage::german, "de"), std::pair(SceneLanguage::english, "en")}) {
    const std::string captions = folder.File(fmt::format("scenes/captions.{}.jsonl", ending));
    const ImageTextList list = ListImageTexts({captions});
    ASSERT_EQ(list.sources.size(), 30U);
    Records records(captions);
    std::vector<ShapeScene> scenes;
    for (std::size_t i = 0; i < 30; ++i) {
      const ShapeScene& scene = scenes.emplace_back(DrawShapeScene(7, i, Portion::held_out, small));
      EXPECT_EQ(ReadImage(list.sources[i]), scene.image);
      EXPECT_EQ(boxes.examples[i].boxes, scene.boxes);
      EXPECT_EQ(list.texts[i].front(), Say(FullCaption(scene), language));
      const std::set<std::string> different(list.texts[i].begin(), list.texts[i].end());
      EXPECT_EQ(different.size(), list.texts[i].size());
      for (const std::string& text : list.texts[i]) EXPECT_TRUE(IsTrue(ParseCaption(text, language), scene)) << text;
      const std::vector<std::string> misses = TextsOf((*records.Next())["hard_negatives"]);
      EXPECT_EQ(misses.size(), list.texts[i].size());
      for (const std::string& text : misses) EXPECT_FALSE(IsTrue(ParseCaption(text, language), scene)) << text;
    }
    Records questions(folder.File(fmt::format("scenes/questions.{}.jsonl", ending)));
    std::set<std::string> kinds;
    const std::vector<std::string> answers = SceneAnswers(language);
    int count = 0;
    for (; const auto question = questions.Next(); ++count) {
      EXPECT_TRUE(std::ranges::find(answers, (*question)["answer"].String()) != answers.end());
      EXPECT_TRUE((*question)["question"].String().ends_with("?"));
      kinds.insert((*question)["kind"].String());
    }
    EXPECT_GT(count, 80);
    EXPECT_EQ(kinds.size(), 4U);
  }
}

}  // namespace
}  // namespace headlight::scene_files_test
