// Drawn scenes as files.
#pragma once

#include <cstdint>
#include <string>

#include "headlight/synthetic/scenes.h"
#include "headlight/synthetic/shape_scenes.h"

namespace headlight {

// Writes scenes [0, count) of a seed into a folder, which is made where there is none: NUMBER.png, and their boxes in
// COCO's format, annotations.json. Throws Error for impossible options, and where a file cannot be written.
void WriteScenes(const std::string& folder, std::int64_t count, std::uint64_t seed, const SceneOptions& options = {});

// Writes scenes [0, count) of a seed, which have one shape each, as MNIST's files: PREFIX-images-idx4-ubyte, and their
// classes' numbers, PREFIX-labels-idx1-ubyte. Those without room for a shape are left out.
void WriteShapes(const std::string& prefix, std::int64_t count, std::uint64_t seed, SceneOptions options = {});

// Writes scenes [0, count) of a seed and a portion, and what is said of them, into a folder, which is made where there
// is none:
// - NUMBER.png, and annotations.json with their boxes, as above, whose classes are a colour with a kind, "red circle";
// - captions.en.jsonl and captions.de.jsonl (data/image_texts.h): of each image the full caption and up to three
//   others, with a near miss of each as "near_misses";
// - questions.en.jsonl and questions.de.jsonl: "path", "question", "answer" and "kind", one of each kind where
//   the scene allows it.
// Throws Error for impossible options, and where a file cannot be written.
void WriteShapeScenes(const std::string& folder, std::int64_t count, std::uint64_t seed, Portion portion,
                      const ShapeSceneOptions& options = {});

}  // namespace headlight
