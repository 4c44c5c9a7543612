#include "headlight/synthetic/scene_captions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <unordered_set>

#include "headlight/base/hash.h"
#include "headlight/base/test_support.h"

namespace headlight::scene_captions_test {
namespace {

constexpr SceneLanguage kBoth[] = {SceneLanguage::german, SceneLanguage::english};
constexpr std::int32_t kCircle = 0, kSquare = 1, kStars = 3;
constexpr std::int32_t kRed = 0, kGreen = 1, kBlue = 2;

// Returns a scene: a large red circle at the top left in front of a small green square in the middle, and a large blue
// star at the bottom.
SceneContent Example() {
  SceneContent scene;
  scene.shapes = {{kSquare, kGreen, 0, 4}, {kCircle, kRed, 1, 0}, {kStars, kBlue, 1, 7}};
  scene.hides[1][0] = true;
  return scene;
}

bool Says(const std::string& caption, const SceneContent& scene, SceneLanguage language = SceneLanguage::english) {
  return IsTrue(ParseCaption(caption, language), scene);
}

TEST(SceneCaptions, AreInBothLanguages) {
  const SceneCaption full = FullCaption(Example());
  EXPECT_EQ(Say(full, SceneLanguage::english),
            "a large red circle at the top left, a small green square in the middle and a large blue star at the "
            "bottom");
  EXPECT_EQ(Say(full, SceneLanguage::german),
            "ein großer roter Kreis oben links, ein kleines grünes Quadrat in der Mitte und ein großer blauer Stern "
            "unten");
  const SceneCaption relations = {
      {.subject = {.size = 1, .kind = kCircle}, .relation = SceneRelation::left_of, .object = {.color = kBlue}},
      {.subject = {.count = 2, .color = kGreen, .kind = kSquare}},
      {.subject = {.kind = kSquare}, .relation = SceneRelation::smaller_than, .object = {.color = kRed, .kind = 2}}};
  EXPECT_EQ(Say(relations, SceneLanguage::english),
            "a large circle left of a blue shape, two green squares and a square smaller than a red triangle");
  EXPECT_EQ(Say(relations, SceneLanguage::german),
            "ein großer Kreis links von einer blauen Form, zwei grüne Quadrate und ein Quadrat kleiner als ein rotes "
            "Dreieck");
}

TEST(SceneCaptions, AreCheckedAgainstTheScene) {
  const SceneContent scene = Example();
  for (const char* yes :
       {"a red circle", "a circle and a star", "a large red circle at the top left.", "A square behind a circle",
        "a circle in front of a green square and a star", "two large shapes", "three shapes", "a star below a square",
        "a red circle left of a blue star", "a square smaller than a star, a circle", "a star at the bottom"})
    EXPECT_TRUE(Says(yes, scene)) << yes;
  for (const char* no :
       {"a red square", "a circle and a circle", "a large red circle at the top", "a circle behind a square",
        "two circles", "three large shapes", "two shapes", "a star above a square", "a blue star left of a circle",
        "a star left of a square", "a star right of a square", "a circle larger than a star",
        "a star at the bottom left", "a star in front of a square", "a circle, a square, a star and a shape"})
    EXPECT_FALSE(Says(no, scene)) << no;
  EXPECT_TRUE(Says("Ein großer Kreis vor einem grünen Quadrat", scene, SceneLanguage::german));
  EXPECT_TRUE(Says("ein kreis oben links und ein STERN unten", scene, SceneLanguage::german));
  EXPECT_TRUE(Says("ein Stern größer als ein Quadrat", scene, SceneLanguage::german));
  EXPECT_FALSE(Says("ein Kreis rechts von einem Stern", scene, SceneLanguage::german));
}

TEST(SceneCaptions, ErrorsNameTheUnexpectedWord) {
  const auto error = [](const std::string& text, SceneLanguage language = SceneLanguage::english) {
    return ErrorOf([&] { ParseCaption(text, language); });
  };
  EXPECT_THAT(error("a red dog"), testing::HasSubstr("a shape, got 'dog'"));
  EXPECT_THAT(error("red circle"), testing::HasSubstr("got 'red', word 1"));
  EXPECT_THAT(error(""), testing::HasSubstr("at its end"));
  EXPECT_THAT(error("a circle left of"), testing::HasSubstr("a number at its end"));
  EXPECT_THAT(error("a circle a star"), testing::HasSubstr("got 'a', word 3"));
  EXPECT_THAT(error("a circle", SceneLanguage::german), testing::HasSubstr("an article or a number"));
  EXPECT_THAT(error(std::string(100000, 'a')), testing::HasSubstr("..."));
}

TEST(SceneCaptions, OfManyScenesAreTrueAndRoundTrip) {
  std::set<std::string> captions;
  for (std::uint64_t number = 0; number < 2000; ++number) {
    const ShapeScene scene = DrawShapeScene(1, number, Portion::training, {.side = 32});
    Random random(2, number);
    for (const SceneCaption& caption : {FullCaption(scene), RandomCaption(random, scene)}) {
      EXPECT_TRUE(IsTrue(caption, scene)) << Say(caption, SceneLanguage::english);
      const SceneCaption miss = HardNegative(random, caption, scene);
      EXPECT_FALSE(IsTrue(miss, scene)) << Say(miss, SceneLanguage::english);
      EXPECT_EQ(miss.size(), caption.size());
      for (const SceneCaption& one : {caption, miss})
        for (const SceneLanguage language : kBoth) {
          const std::string text = Say(one, language);
          EXPECT_EQ(ParseCaption(text, language), one) << text;
          captions.insert(text);
        }
    }
  }
  EXPECT_GT(captions.size(), 10000U);
}

// Checks that a hard negative of a full caption changes one attribute, and that all other values of all attributes
// occur.
TEST(SceneCaptions, HardNegativesChangeOneThing) {
  const SceneContent scene = Example();
  const SceneCaption caption = FullCaption(scene);
  std::set<std::string> misses;
  Random random(1);
  for (int i = 0; i < 5000; ++i) {
    const SceneCaption miss = HardNegative(random, caption, scene);
    int changed = 0;
    for (std::size_t statement = 0; statement < caption.size(); ++statement) {
      const SceneMention &was = caption[statement].subject, &is = miss[statement].subject;
      changed += (was.size != is.size) + (was.color != is.color) + (was.kind != is.kind) + (was.place != is.place);
    }
    EXPECT_EQ(changed, 1);
    misses.insert(Say(miss, SceneLanguage::german));
  }
  EXPECT_EQ(misses.size(), 3U * (1 + 7 + 5 + 8));
  EXPECT_THAT(ErrorOf([&] { HardNegative(random, {{.subject = {.kind = 2}}}, scene); }),
              testing::HasSubstr("'a triangle' is false"));
}

// Checks the captions of all scenes with one or two shapes, and of all scenes with three shapes in the first three
// cells. These are almost two million scenes.
TEST(SceneCaptions, DistinguishMoreThanAMillionContents) {
  constexpr std::int32_t variants = kSceneKinds * kSceneColors * kSceneSizes;
  const auto variant = [](std::int32_t index, std::int32_t place) {
    return SceneShape{index % kSceneKinds, index / kSceneKinds % kSceneColors, index / kSceneKinds / kSceneColors,
                      place};
  };
  std::unordered_set<std::uint64_t> captions;
  std::size_t contents = 0;
  const auto add = [&](std::vector<SceneShape> shapes) {
    ++contents;
    const SceneContent scene = {.shapes = std::move(shapes), .hides = {}};
    captions.insert(HashOf(Say(FullCaption(scene), SceneLanguage::german)));
  };
  for (std::int32_t p = 0; p < kScenePlaces; ++p)
    for (std::int32_t i = 0; i < variants; ++i) {
      add({variant(i, p)});
      for (std::int32_t q = p + 1; q < kScenePlaces; ++q)
        for (std::int32_t j = 0; j < variants; ++j) add({variant(i, p), variant(j, q)});
    }
  EXPECT_EQ(contents, 9U * variants + 36U * variants * variants);
  for (std::int32_t i = 0; i < variants; ++i)
    for (std::int32_t j = 0; j < variants; ++j)
      for (std::int32_t k = 0; k < variants; ++k) add({variant(i, 0), variant(j, 1), variant(k, 2)});
  EXPECT_GT(contents, 1000000U);
  EXPECT_EQ(captions.size(), contents);
}

}  // namespace
}  // namespace headlight::scene_captions_test
