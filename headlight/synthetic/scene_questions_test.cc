#include "headlight/synthetic/scene_questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace headlight::scene_questions_test {
namespace {

// Derives the answer from the words of a question and the scene.
std::string AnswerOf(const std::string& question, const SceneContent& scene, SceneLanguage language) {
  const bool english = language == SceneLanguage::english;
  // Returns the shapes to which a definite or bare phrase refers, found by comparing the phrase with all mentions.
  const auto named = [&](const std::string& phrase, Article article, bool dative) {
    std::vector<std::size_t> shapes;
    for (std::int32_t all = 0; all < 3 * 9 * 7 * 10; ++all) {
      SceneMention mention;
      const std::int32_t size = all % 3, color = all / 3 % 9, kind = all / 27 % 7, place = all / 189;
      if (size > 0) mention.size = size - 1;
      if (color > 0) mention.color = color - 1;
      if (kind > 0) mention.kind = kind - 1;
      if (place > 0) mention.place = place - 1;
      if (MentionPhrase(mention, article, language, dative) != phrase) continue;
      for (std::size_t i = 0; i < scene.shapes.size(); ++i)
        if (Fits(mention, scene.shapes[i])) shapes.push_back(i);
      return shapes;
    }
    ADD_FAILURE() << phrase << " in " << question;
    return shapes;
  };
  const auto between = [&](const std::string& before, const std::string& after) {
    return question.substr(before.size(), question.size() - before.size() - after.size());
  };
  const auto only = [](const std::vector<std::size_t>& shapes) {
    EXPECT_EQ(shapes.size(), 1U);
    return shapes.at(0);
  };
  const std::string what = english ? "What is " : "Was ist ",
                    color = english ? "Which colour is " : "Welche Farbe hat ";
  const std::string many = english ? "How many " : "Wie viele ", there = english ? " are there?" : " gibt es?";
  const std::string is = english ? "Is " : "Ist ";
  if (question.starts_with(what)) {
    for (const SceneShape& shape : scene.shapes)
      if (between(what, "?") == PlaceWords(shape.place, language)) return KindWord(shape.kind, language);
    return KindWord(scene.shapes[only(named(between(what, "?"), Article::definite, false))].kind, language);
  }
  if (question.starts_with(color))
    return ColorWord(scene.shapes[only(named(between(color, "?"), Article::definite, false))].color, language);
  if (question.starts_with(many)) return std::to_string(named(between(many, there), Article::bare, false).size());
  const std::string rest = between(is, "?");
  for (std::int32_t i = 0; i < kSceneRelations; ++i) {
    const auto relation = static_cast<SceneRelation>(i);
    const std::string words = " " + RelationWords(relation, language) + " ";
    const std::size_t at = rest.find(words);
    if (at == std::string::npos) continue;
    const std::size_t a = only(named(rest.substr(0, at), Article::definite, false));
    const std::size_t b = only(named(rest.substr(at + words.size()), Article::definite, TakesDative(relation)));
    return Holds(relation, scene, a, b) ? (english ? "yes" : "ja") : (english ? "no" : "nein");
  }
  ADD_FAILURE() << question;
  return "";
}

TEST(SceneQuestions, HaveCorrectAnswers) {
  for (const SceneLanguage language : {SceneLanguage::german, SceneLanguage::english}) {
    const std::vector<std::string> answers = SceneAnswers(language);
    EXPECT_EQ(answers.size(), 21U);
    std::map<std::string, std::map<std::string, int>> seen;
    std::set<std::string> questions;
    for (std::uint64_t number = 0; number < 400; ++number) {
      const ShapeScene scene = DrawShapeScene(3, number, Portion::training, {.side = 32});
      Random random(4, number);
      for (std::int32_t kind = 0; kind < kQuestionKinds; ++kind) {
        const auto asked = AskAbout(random, scene, static_cast<QuestionKind>(kind), language);
        if (!asked) continue;
        EXPECT_EQ(asked->answer, AnswerOf(asked->question, scene, language)) << asked->question;
        EXPECT_TRUE(std::ranges::find(answers, asked->answer) != answers.end()) << asked->answer;
        ++seen[NameOf(static_cast<QuestionKind>(kind))][asked->answer];
        questions.insert(asked->question);
      }
    }
    EXPECT_EQ(seen["what"].size(), 6U);
    EXPECT_EQ(seen["which colour"].size(), 8U);
    EXPECT_EQ(seen["how many"].size(), 5U);
    ASSERT_EQ(seen["is related"].size(), 2U);
    const int yes = seen["is related"].begin()->second, no = seen["is related"].rbegin()->second;
    EXPECT_NEAR(yes, no, 0.2 * (yes + no));
    EXPECT_GT(questions.size(), 500U);
  }
}

TEST(SceneQuestions, HaveTheExpectedWords) {
  SceneContent scene;
  scene.shapes = {{0, 0, 1, 0}};
  Random random(1);
  EXPECT_FALSE(AskAbout(random, scene, QuestionKind::is_related, SceneLanguage::english).has_value());
  std::set<std::string> english, german;
  for (int i = 0; i < 200; ++i) {
    english.insert(AskAbout(random, scene, QuestionKind::which_color, SceneLanguage::english)->question);
    german.insert(AskAbout(random, scene, QuestionKind::which_color, SceneLanguage::german)->question);
  }
  EXPECT_TRUE(english.contains("Which colour is the large circle?"));
  EXPECT_TRUE(english.contains("Which colour is the shape at the top left?"));
  EXPECT_TRUE(german.contains("Welche Farbe hat der große Kreis?"));
  EXPECT_TRUE(german.contains("Welche Farbe hat die große Form oben links?"));
}

}  // namespace
}  // namespace headlight::scene_questions_test
