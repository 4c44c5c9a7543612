// Object detection in pictures.
//   const Detector detector = Detector::Load("detr-resnet-50");
//   const std::vector<FoundBox> boxes = detector.Detect({ReadPicture("street.jpg")})[0];
//   for (const FoundBox& found : boxes)
//     fmt::print("{} {:.2f} at {}, {}\n", detector.labels()[found.label], found.score, found.box.left, found.box.top);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/box.h"
#include "headlight/image/picture.h"
#include "headlight/tasks/load_options.h"

namespace headlight {

struct DetectOptions {
  double threshold = 0.5;               // only boxes with a score above it; 0 to 1
  std::int64_t batch_pixels = 1 << 20;  // of pictures that are computed at once, as resized; at least 1
  std::function<std::string(std::size_t picture)> name_of = {};  // in errors; "picture 1" unless given
};

// Immutable and cheap to copy; every method may be called from many threads at once. A picture's boxes do
// not depend on the other pictures of a call: none is padded.
class HEADLIGHT_API Detector {
 public:
  // A folder of DETR and its preprocessor_config.json. Throws Error naming the file and what is wrong with it or not
  // supported.
  static Detector Load(const std::string& folder, const LoadOptions& options = {});

  // The boxes found in each picture, the highest scores first, in the picture's own pixels, which may reach
  // over its edges. Throws Error naming the picture where one has no pixels or cannot be resized.
  std::vector<std::vector<FoundBox>> Detect(std::span<const Picture> pictures, const DetectOptions& options = {}) const;
  std::vector<std::vector<FoundBox>> Detect(std::initializer_list<Picture> pictures,
                                            const DetectOptions& options = {}) const {
    return Detect(std::span(pictures.begin(), pictures.size()), options);
  }

  // Detect in two steps, of which the first can be done ahead while the second computes: the picture as resized for the
  // model, and what is found in such pictures, whose own sizes are `sizes`.
  Picture Fit(const Picture& picture) const;
  std::vector<std::vector<FoundBox>> DetectFitted(std::span<const Picture> fitted, std::span<const PictureSize> sizes,
                                                  const DetectOptions& options = {}) const;

  const std::vector<std::string>& labels() const;  // by FoundBox::label

 private:
  struct State;
  explicit Detector(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
