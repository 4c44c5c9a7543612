// Writes synthetic scenes with captions, questions and boxes (headlight/synthetic/scene_files.h lists the files).
//   FOLDER COUNT SEED            writes COUNT scenes for training
//   FOLDER COUNT SEED held-out   writes scenes that never occur among the training scenes
//   FOLDER COUNT SEED twins      writes pairs of held-out scenes that differ in one attribute of one shape
// Without arguments, prints the captions and questions of one scene.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "headlight/synthetic/scene_files.h"
#include "headlight/synthetic/scene_questions.h"

int main(int argc, char** argv) {
  using namespace headlight;
  if (argc > 3) {
    const std::string_view which = argc > 4 ? argv[4] : "";
    const Portion portion = which == "held-out" || which == "twins" ? Portion::held_out : Portion::training;
    WriteShapeScenes(argv[1], std::atoll(argv[2]), std::strtoull(argv[3], nullptr, 10), portion,
                     {.twins = which == "twins"});
    return 0;
  }
  const ShapeScene scene = DrawShapeScene(/*seed=*/1, /*number=*/3, Portion::training);
  for (const SceneLanguage language : {SceneLanguage::english, SceneLanguage::german}) {
    Random random(/*seed=*/1);
    std::printf("%s\n", Say(FullCaption(scene), language).c_str());
    const SceneCaption caption = RandomCaption(random, scene);
    std::printf("%s; not: %s\n", Say(caption, language).c_str(),
                Say(HardNegative(random, caption, scene), language).c_str());
    for (std::int32_t kind = 0; kind < kQuestionKinds; ++kind)
      if (const auto asked = AskAbout(random, scene, static_cast<QuestionKind>(kind), language))
        std::printf("%s %s\n", asked->question.c_str(), asked->answer.c_str());
  }
  return 0;
}
