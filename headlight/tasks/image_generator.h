// New pictures, from scratch or as the rest of given ones, by a model that generates pixel after pixel (ImageGPT): load
// a folder once, call it from any number of threads.
//   const ImageGenerator generator = ImageGenerator::Load("imagegpt-small");
//   std::vector<Picture> pictures = generator.Generate(4, {.temperature = 0.9, .seed = 7});
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/picture.h"
#include "headlight/tasks/draw_options.h"
#include "headlight/tasks/load_options.h"

namespace headlight {

// Immutable and cheap to copy; every method may be called from many threads at once. A picture does not depend on the
// others of the call.
class HEADLIGHT_API ImageGenerator {
 public:
  // A folder of an ImageGPT with its preprocessor_config.json, which has the colours. Throws Error naming the file and
  // what is wrong with it or not supported.
  static ImageGenerator Load(const std::string& folder, const LoadOptions& options = {});

  // `count` pictures of the model's size. Throws Error for impossible options, naming them.
  std::vector<Picture> Generate(std::int64_t count, const DrawOptions& options = {}) const;
  // Keeps the upper `rows` rows of each picture, after it was resized to the model's size and reduced to its colours,
  // and draws the rest, `count` times; those of a picture follow one another. Half of the rows unless given. Throws
  // Error for rows that leave nothing to draw, and likewise.
  std::vector<Picture> Complete(std::span<const Picture> pictures, std::optional<std::int64_t> rows, std::int64_t count,
                                const DrawOptions& options = {}) const;

  std::int64_t height() const;  // of every picture, in pixels
  std::int64_t width() const;

 private:
  struct State;
  explicit ImageGenerator(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::vector<Picture> Draw(const std::vector<std::vector<std::int32_t>>& begun, const DrawOptions& options) const;

  std::shared_ptr<const State> state_;
};

}  // namespace headlight
