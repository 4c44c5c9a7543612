// New images, from scratch or as the rest of given ones, by a model that generates pixel after pixel (ImageGPT): load
// a folder once, call it from any number of threads.
//   const ImageGenerator generator = ImageGenerator::Load("imagegpt-small");
//   std::vector<Image> images = generator.Generate(4, {.temperature = 0.9, .seed = 7});
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

// Immutable and cheap to copy; every method may be called from many threads at once. An image does not depend on the
// others of the call.
class HEADLIGHT_API ImageGenerator {
 public:
  // A folder of an ImageGPT with its preprocessor_config.json, which has the colours. Throws Error naming the file and
  // what is wrong with it or not supported.
  static ImageGenerator Load(const std::string& folder, const LoadOptions& options = {});

  // `count` images of the model's size. Throws Error for impossible options, naming them.
  std::vector<Image> Generate(std::int64_t count, const TextToImageOptions& options = {}) const;
  // Keeps the upper `rows` rows of each image, after it was resized to the model's size and reduced to its colours,
  // and draws the rest, `count` times; those of an image follow one another. Half of the rows unless given. Throws
  // Error for rows that leave nothing to draw, and likewise.
  std::vector<Image> Complete(std::span<const Image> images, std::optional<std::int64_t> rows, std::int64_t count,
                              const TextToImageOptions& options = {}) const;

  std::int64_t height() const;  // of every image, in pixels
  std::int64_t width() const;

 private:
  struct State;
  explicit ImageGenerator(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::vector<Image> Draw(const std::vector<std::vector<std::int32_t>>& begun, const TextToImageOptions& options) const;

  std::shared_ptr<const State> state_;
};

}  // namespace headlight
