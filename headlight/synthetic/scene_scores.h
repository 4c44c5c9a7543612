// Scores of captioning and text-to-image models on synthetic scenes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/synthetic/scene_captions.h"
#include "headlight/synthetic/shape_scenes.h"

namespace headlight {

struct SceneScores {
  std::int64_t texts = 0, understood = 0, right = 0;  // numbers of captions: all, valid in the grammar, and true
  /// Numbers of single statements in the valid captions: all, and true.
  std::int64_t statements = 0, true_statements = 0;
};

/// Scores a caption of a scene.
void Score(const std::string& caption, SceneLanguage language, const SceneContent& scene, SceneScores& scores);

/// Returns the scores of captions in a .jsonl file, as printed by `headlight caption --json`. The images must be
/// written by WriteShapeScenes with this seed and portion. Throws Error for an image name that does not begin with a
/// scene number.
SceneScores ScoreCaptions(const std::string& path, std::uint64_t seed, Portion portion, SceneLanguage language,
                          const ShapeSceneOptions& options = {});

/// Returns the scores of generated images from the objects detected in them, in a .jsonl file as printed by `headlight
/// detect --json`. An image is correct if its text is true of the boxes. If the text names every shape, no other shape
/// may be detected. The images have this side in pixels, and names as written by `headlight draw --texts`: TEXT.png or
/// TEXT-PLACE.png, with the line number from 1. Throws Error for an image with any other name.
SceneScores ScoreDrawings(const std::string& path, const std::vector<std::string>& texts, SceneLanguage language,
                          double side);

}  // namespace headlight
