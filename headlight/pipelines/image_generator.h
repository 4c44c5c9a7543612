// Generates new images and completes given images, pixel by pixel (ImageGPT).
//   const ImageGenerator generator = ImageGenerator::Load("imagegpt-small");
//   std::vector<Image> images = generator.Generate({.count = 4, .temperature = 0.9, .seed = 7});
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/pipelines/text_to_image_options.h"

namespace headlight {

/// Generates and completes images. Immutable and cheap to copy. All methods are thread-safe. An image does not depend
/// on the other images of a call, except that the index of the image selects its random stream.
class HEADLIGHT_API ImageGenerator {
 public:
  /// Loads the folder of an ImageGPT with its preprocessor_config.json, which has the colors. Throws Error that names
  /// the file and the problem if a file is invalid or not supported.
  static ImageGenerator Load(const std::string& folder, const LoadOptions& options = {});

  /// Generates options.count new images of the model's size. Throws Error naming an invalid option.
  std::vector<Image> Generate(const TextToImageOptions& options = {}) const;
  /// Generates options.count completions of each image. An image is resized to the model's size, and its colors are
  /// quantized to the model's colors. The upper `rows` rows are kept, by default half of the rows, and the lower rows
  /// are generated. Throws Error if no row is left to generate, and for invalid options.
  std::vector<std::vector<Image>> Complete(std::span<const Image> images, std::optional<std::int64_t> rows = {},
                                           const TextToImageOptions& options = {}) const;

  std::int64_t height() const;  ///< height of every image, in pixels
  std::int64_t width() const;   ///< width of every image, in pixels

 private:
  struct State;
  explicit ImageGenerator(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::vector<Image> Draw(const std::vector<std::vector<std::int32_t>>& begun, const TextToImageOptions& options) const;

  std::shared_ptr<const State> state_;
};

}  // namespace headlight
