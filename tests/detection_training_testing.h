// Helpers for tests of detector training: a set of synthetic scenes, and a small DETR.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "headlight/data/detection.h"
#include "headlight/image/processor.h"
#include "headlight/models/detr.h"
#include "headlight/synthetic/scenes.h"
#include "headlight/train/objectives/detection.h"

namespace headlight {

// Returns scenes [first, first + count). The path of a scene is its number.
inline DetectionSet Scenes(std::uint64_t first, std::uint64_t count, const SceneOptions& options) {
  DetectionSet set;
  for (std::uint64_t i = first; i < first + count; ++i)
    set.examples.push_back({.image = std::to_string(i), .boxes = DrawScene(1, i, options).boxes});
  return set;
}

inline ImageReader SceneReader(const SceneOptions& options) {
  return [options](const std::string& path) { return DrawScene(1, std::stoull(path), options).image; };
}

inline ImageSizeReader SceneSizeReader(const SceneOptions& options) {
  return [size = ImageSize{options.height, options.width}](const std::string&) { return size; };
}

inline ImageProcessor SceneProcessor(std::int64_t side) {
  ImageProcessor processor;
  processor.resize = {.kind = ResizeRule::Kind::shortest, .edge = side, .longest = 2 * side};
  processor.scale = 1 / 255.0;
  processor.mean = {0.5F, 0.5F, 0.5F};
  processor.deviation = {0.25F, 0.25F, 0.25F};
  return processor;
}

// Returns the configuration of a small untrained DETR for scenes.
inline DetrConfig SmallDetr(std::int64_t width) {
  DetrConfig config;
  config.backbone = {
      .embedding = width / 2, .hidden = {width / 2, width, width}, .depths = {1, 1, 1}, .bottleneck = false};
  config.backbone_statistics = BatchStatistics::trained;
  config.model = width;
  config.encoder_layers = config.decoder_layers = 2;
  config.encoder_heads = config.decoder_heads = 4;
  config.encoder_ffn = config.decoder_ffn = 2 * width;
  config.dropout = 0;
  config.queries = 10;
  config.labels = SceneLabels();
  return config;
}

}  // namespace headlight
