// Scores of models by the drawn scenes that they tell of, or draw.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/synthetic/scene_captions.h"
#include "headlight/synthetic/shape_scenes.h"

namespace headlight {

struct SceneScores {
  std::int64_t texts = 0, understood = 0, right = 0;  // captions; of the grammar; true
  std::int64_t statements = 0, true_statements = 0;   // of the captions that are of the grammar, each by itself
};

// Counts a caption of a scene.
void Score(const std::string& caption, SceneLanguage language, const SceneContent& scene, SceneScores& scores);

// The scores of captions as `headlight caption --json` prints them into a .jsonl file, of the images that
// WriteShapeScenes wrote with this seed and portion. Throws Error for an image that does not have such a name.
SceneScores ScoreCaptions(const std::string& path, std::uint64_t seed, Portion portion, SceneLanguage language,
                          const ShapeSceneOptions& options = {});

// The scores of drawings by what a detector found in them, as `headlight detect --json` prints it into a .jsonl file: a
// drawing is right where its text is true of the boxes, and where it names each shape, all boxes are shapes that it
// names. The images are of this side, and named as `headlight draw --texts` names them: TEXT.png or TEXT-PLACE.png,
// with the number of its line from 1. Throws Error likewise.
SceneScores ScoreDrawings(const std::string& path, const std::vector<std::string>& texts, SceneLanguage language,
                          double side);

}  // namespace headlight
