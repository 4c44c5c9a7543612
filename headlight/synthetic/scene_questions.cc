#include "headlight/synthetic/scene_questions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headlight {
namespace {

bool IsEnglish(SceneLanguage language) { return language == SceneLanguage::english; }

std::int64_t CountOf(const SceneMention& mention, const SceneContent& scene) {
  return std::ranges::count_if(scene.shapes, [&](const SceneShape& shape) { return Fits(mention, shape); });
}

enum Attributes : unsigned { with_size = 1, with_color = 2, with_kind = 4, with_place = 8 };

SceneMention MentionOf(const SceneShape& shape, unsigned attributes) {
  SceneMention mention;
  if ((attributes & with_size) != 0) mention.size = shape.size;
  if ((attributes & with_color) != 0) mention.color = shape.color;
  if ((attributes & with_kind) != 0) mention.kind = shape.kind;
  if ((attributes & with_place) != 0) mention.place = shape.place;
  return mention;
}

// Returns a mention with some of these attributes that fits only this shape.
std::optional<SceneMention> OnlyMention(Random& random, const SceneContent& scene, std::size_t shape,
                                        unsigned attributes) {
  std::vector<SceneMention> mentions;
  for (unsigned some = 1; some < 16; ++some) {
    if ((some & attributes) != some) continue;
    const SceneMention mention = MentionOf(scene.shapes[shape], some);
    if (CountOf(mention, scene) == 1) mentions.push_back(mention);
  }
  if (mentions.empty()) return std::nullopt;
  return mentions[random.Below(mentions.size())];
}

// Calls ask(shape, mention) for a random shape whose values of `attributes` no other shape has.
template <typename Ask>
std::optional<SceneQuestion> AskForShape(Random& random, const SceneContent& scene, unsigned attributes,
                                         const Ask& ask) {
  const std::size_t first = random.Below(scene.shapes.size());
  for (std::size_t i = 0; i < scene.shapes.size(); ++i) {
    const std::size_t shape = (first + i) % scene.shapes.size();
    if (const auto mention = OnlyMention(random, scene, shape, attributes)) return ask(scene.shapes[shape], *mention);
  }
  return std::nullopt;
}

std::optional<SceneQuestion> AskWhat(Random& random, const SceneContent& scene, SceneLanguage language) {
  const bool english = IsEnglish(language);
  if (random.Below(2) == 0) {
    const SceneShape& shape = scene.shapes[random.Below(scene.shapes.size())];
    return SceneQuestion{(english ? "What is " : "Was ist ") + PlaceWords(shape.place, language) + "?",
                         KindWord(shape.kind, language)};
  }
  return AskForShape(random, scene, with_size | with_color, [&](const SceneShape& shape, const SceneMention& mention) {
    return SceneQuestion{
        (english ? "What is " : "Was ist ") + MentionPhrase(mention, Article::definite, language) + "?",
        KindWord(shape.kind, language)};
  });
}

std::optional<SceneQuestion> AskColor(Random& random, const SceneContent& scene, SceneLanguage language) {
  return AskForShape(random, scene, with_size | with_kind | with_place,
                     [&](const SceneShape& shape, const SceneMention& mention) {
                       return SceneQuestion{(IsEnglish(language) ? "Which colour is " : "Welche Farbe hat ") +
                                                MentionPhrase(mention, Article::definite, language) + "?",
                                            ColorWord(shape.color, language)};
                     });
}

// Asks for the number of shapes with random attributes, or with some attributes of a shape in the scene.
SceneQuestion AskNumber(Random& random, const SceneContent& scene, SceneLanguage language) {
  SceneShape shape = scene.shapes[random.Below(scene.shapes.size())];
  if (random.Below(3) == 0)
    shape = {.kind = static_cast<std::int32_t>(random.Below(kSceneKinds)),
             .color = static_cast<std::int32_t>(random.Below(kSceneColors)),
             .size = static_cast<std::int32_t>(random.Below(kSceneSizes))};
  const SceneMention mention = MentionOf(shape, static_cast<unsigned>(random.Below(8)));
  const std::string phrase = MentionPhrase(mention, Article::bare, language);
  return {IsEnglish(language) ? "How many " + phrase + " are there?" : "Wie viele " + phrase + " gibt es?",
          std::to_string(CountOf(mention, scene))};
}

std::string YesOrNo(bool yes, SceneLanguage language) {
  if (IsEnglish(language)) return yes ? "yes" : "no";
  return yes ? "ja" : "nein";
}

std::optional<SceneQuestion> AskRelation(Random& random, const SceneContent& scene, SceneLanguage language) {
  struct Pair {
    std::size_t a, b;
    SceneRelation relation;
  };
  std::array<std::vector<Pair>, 2> pairs;  // pairs without the relation, and pairs with the relation
  for (std::size_t a = 0; a < scene.shapes.size(); ++a)
    for (std::size_t b = 0; b < scene.shapes.size(); ++b)
      for (std::int32_t i = 0; a != b && i < kSceneRelations; ++i) {
        const auto relation = static_cast<SceneRelation>(i);
        pairs[Holds(relation, scene, a, b) ? 1 : 0].push_back({a, b, relation});
      }
  const std::size_t wanted = random.Below(2);
  for (const std::size_t holds : {wanted, 1 - wanted})
    // If the shapes of a pair cannot be distinguished, another pair is tried.
    for (int attempt = 0; attempt < 20 && !pairs[holds].empty(); ++attempt) {
      const auto& [a, b, relation] = pairs[holds][random.Below(pairs[holds].size())];
      // The question must not reveal the answer. Therefore, the question never names a position, and names no size for
      // "larger than" and "smaller than".
      const bool sizes = relation == SceneRelation::larger_than || relation == SceneRelation::smaller_than;
      const unsigned attributes = with_color | with_kind | (sizes ? 0U : unsigned{with_size});
      const auto first = OnlyMention(random, scene, a, attributes), second = OnlyMention(random, scene, b, attributes);
      if (!first || !second) continue;
      return SceneQuestion{(IsEnglish(language) ? "Is " : "Ist ") + MentionPhrase(*first, Article::definite, language) +
                               " " + RelationWords(relation, language) + " " +
                               MentionPhrase(*second, Article::definite, language, TakesDative(relation)) + "?",
                           YesOrNo(holds == 1, language)};
    }
  return std::nullopt;
}

}  // namespace

std::string NameOf(QuestionKind kind) {
  constexpr std::array<const char*, kQuestionKinds> names = {"what", "which colour", "how many", "is related"};
  return names[static_cast<std::size_t>(kind)];
}

std::optional<SceneQuestion> AskAbout(Random& random, const SceneContent& scene, QuestionKind kind,
                                      SceneLanguage language) {
  switch (kind) {
    case QuestionKind::what:
      return AskWhat(random, scene, language);
    case QuestionKind::which_color:
      return AskColor(random, scene, language);
    case QuestionKind::how_many:
      return AskNumber(random, scene, language);
    default:
      return AskRelation(random, scene, language);
  }
}

std::vector<std::string> SceneAnswers(SceneLanguage language) {
  std::vector<std::string> answers;
  for (std::int32_t kind = 0; kind < kSceneKinds; ++kind) answers.push_back(KindWord(kind, language));
  for (std::int32_t color = 0; color < kSceneColors; ++color) answers.push_back(ColorWord(color, language));
  for (std::size_t count = 0; count <= kMostSceneShapes; ++count) answers.push_back(std::to_string(count));
  answers.push_back(YesOrNo(true, language));
  answers.push_back(YesOrNo(false, language));
  return answers;
}

}  // namespace headlight
