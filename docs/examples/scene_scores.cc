// Scores captions and generated images of synthetic scenes (headlight/synthetic/scene_scores.h).
//   captions FILE SEED         FILE: output of `headlight caption --json` for the held-out scenes of a seed
//   drawings FILE TEXTS SIDE   FILE: output of `headlight detect --json` for images of SIDE x SIDE pixels, one per
//                              line of TEXTS
// Without arguments, scores some captions of one scene.
#include "headlight/synthetic/scene_scores.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "headlight/data/text_reader.h"

namespace {

void Print(const headlight::SceneScores& scores) {
  const auto share = [](std::int64_t some, std::int64_t all) {
    return all == 0 ? 0 : 100 * static_cast<double>(some) / static_cast<double>(all);
  };
  std::printf("%lld texts: %.1f%% wholly true, %.1f%% of %lld statements true, %.1f%% not of the grammar\n",
              static_cast<long long>(scores.texts), share(scores.right, scores.texts),
              share(scores.true_statements, scores.statements), static_cast<long long>(scores.statements),
              share(scores.texts - scores.understood, scores.texts));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace headlight;
  constexpr SceneLanguage language = SceneLanguage::english;
  const std::string_view what = argc > 3 ? argv[1] : "";
  if (what == "captions") {
    Print(ScoreCaptions(argv[2], std::strtoull(argv[3], nullptr, 10), Portion::held_out, language));
  } else if (what == "drawings" && argc > 4) {
    Print(ScoreDrawings(argv[2], AllTexts(argv[3]), language, std::atoi(argv[4])));
  } else {
    const ShapeScene scene = DrawShapeScene(/*seed=*/1, /*number=*/3, Portion::training);
    Random random(/*seed=*/1);
    SceneScores scores;
    for (int i = 0; i < 4; ++i) {
      const SceneCaption caption = RandomCaption(random, scene);
      Score(Say(caption, language), language, scene, scores);
      Score(Say(HardNegative(random, caption, scene), language), language, scene, scores);
    }
    Score("a red circle of", language, scene, scores);
    Print(scores);
  }
  return 0;
}
