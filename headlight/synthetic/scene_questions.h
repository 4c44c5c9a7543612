// Questions about drawn scenes with their answers, from a grammar, in German and English.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/synthetic/scene_captions.h"

namespace headlight {

// "What is at the top left?", "Which colour is the large ring?", "How many red circles are there?", "Is the red circle
// left of the star?"
enum class QuestionKind { what, which_colour, how_many, is_related };
inline constexpr std::int32_t kQuestionKinds = 4;
std::string NameOf(QuestionKind kind);  // "what", "which colour", "how many", "is related"

struct SceneQuestion {
  std::string question, answer;
};

// A question of that kind with one right answer; nothing where the scene has no shape that one can ask for. Yes and no
// are equally likely, as far as the scene allows.
std::optional<SceneQuestion> AskAbout(Random& random, const SceneContent& scene, QuestionKind kind,
                                      SceneLanguage language);

// All answers there are: the kinds, the colours, "0" to "4", yes and no.
std::vector<std::string> SceneAnswers(SceneLanguage language);

}  // namespace headlight
