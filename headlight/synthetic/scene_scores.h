// Scores of captioning and text-to-image models on synthetic scenes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/synthetic/scene_captions.h"
#include "headlight/synthetic/shape_scenes.h"

namespace headlight {

struct SceneScores {
  std::int64_t texts = 0, understood = 0, right = 0;  // captions; valid in the grammar; true
  std::int64_t statements = 0, true_statements = 0;   // of the captions that are valid, each separately
};

/// Scores a caption of a scene.
void Score(const std::string& caption, SceneLanguage language, const SceneContent& scene, SceneScores& scores);

/// The scores of captions in a .jsonl file, as printed by `headlight caption --json`, of images that WriteShapeScenes
/// wrote with this seed and portion. Throws Error for an image whose name does not have that form.
SceneScores ScoreCaptions(const std::string& path, std::uint64_t seed, Portion portion, SceneLanguage language,
                          const ShapeSceneOptions& options = {});

/// The scores of generated images by the objects detected in them, in a .jsonl file as printed by `headlight detect
/// --json`. An image is correct if its text is true of the boxes, and if the text names every shape, no other shape is
/// detected. The images have this side, and names as from `headlight draw --texts`: TEXT.png or TEXT-PLACE.png, with
/// the number of the line from 1. Throws the same errors.
SceneScores ScoreDrawings(const std::string& path, const std::vector<std::string>& texts, SceneLanguage language,
                          double side);

}  // namespace headlight
