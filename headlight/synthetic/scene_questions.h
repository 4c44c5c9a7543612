// Generates questions about synthetic scenes, with answers, from a grammar in German and English.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/synthetic/scene_captions.h"

namespace headlight {

/// The kinds of questions: "What is at the top left?", "Which colour is the large ring?", "How many red circles are
/// there?", "Is the red circle left of the star?"
enum class QuestionKind { what, which_color, how_many, is_related };
inline constexpr std::int32_t kQuestionKinds = 4;
std::string NameOf(QuestionKind kind);  // "what", "which colour", "how many", "is related"

struct SceneQuestion {
  std::string question, answer;
};

/// Returns a question of this kind with one correct answer, or nothing if the scene has no suitable shape. Yes and no
/// are equally likely if the scene allows both.
std::optional<SceneQuestion> AskAbout(Random& random, const SceneContent& scene, QuestionKind kind,
                                      SceneLanguage language);

/// Returns all possible answers: the kinds, the colors, "0" to "4", yes and no.
std::vector<std::string> SceneAnswers(SceneLanguage language);

}  // namespace headlight
