// Writes synthetic scenes to files.
#pragma once

#include <cstdint>
#include <string>

#include "headlight/synthetic/scenes.h"
#include "headlight/synthetic/shape_scenes.h"

namespace headlight {

/// Generates scenes 0 to count - 1 from a seed and writes them into a folder, which is created if necessary. The images
/// are named NUMBER.png. Their boxes are in annotations.json, in COCO's format. Throws Error for invalid options, and
/// if a file cannot be written.
void WriteScenes(const std::string& folder, std::int64_t count, std::uint64_t seed, const SceneOptions& options = {});

/// Writes scenes 0 to count - 1 of a seed, with one shape each, in MNIST's format: the images in
/// PREFIX-images-idx4-ubyte, and the class indices in PREFIX-labels-idx1-ubyte. Scenes without space for a shape are
/// skipped. Throws Error for invalid options, and if a file cannot be written.
void WriteShapes(const std::string& prefix, std::int64_t count, std::uint64_t seed, SceneOptions options = {});

/// Writes scenes 0 to count - 1 of a seed and a portion with their texts into a folder, which is created if necessary:
/// - NUMBER.png, and annotations.json with their boxes in COCO's format. Classes are a color and a kind, such as "red
///   circle".
/// - captions.en.jsonl and captions.de.jsonl (data/image_texts.h): for each image the full caption and up to three
///   others, with a hard negative of each as "hard_negatives".
/// - questions.en.jsonl and questions.de.jsonl: "path", "question", "answer" and "kind", one question of each kind that
///   the scene allows.
/// Throws Error for invalid options, and if a file cannot be written.
void WriteShapeScenes(const std::string& folder, std::int64_t count, std::uint64_t seed, Portion portion,
                      const ShapeSceneOptions& options = {});

}  // namespace headlight
