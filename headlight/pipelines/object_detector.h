// Object detection in images.
//   const ObjectDetector detector = ObjectDetector::Load("detr-resnet-50");
//   const std::vector<FoundBox> boxes = detector.Detect({ReadImage("street.jpg")})[0];
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
#include "headlight/image/image.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct DetectOptions {
  double threshold = 0.5;               // only boxes with a score above it; 0 to 1
  std::int64_t batch_pixels = 1 << 20;  // of images that are computed at once, as resized; at least 1
  std::function<std::string(std::size_t image)> name_of = {};  // in errors; "image 1" unless given
};

// Immutable and cheap to copy; every method may be called from many threads at once. An image's boxes do
// not depend on the other images of a call: none is padded.
class HEADLIGHT_API ObjectDetector {
 public:
  // A folder of DETR and its preprocessor_config.json. Throws Error naming the file and what is wrong with it or not
  // supported.
  static ObjectDetector Load(const std::string& folder, const LoadOptions& options = {});

  // The boxes found in each image, the highest scores first, in the image's own pixels, which may reach
  // over its edges. Throws Error naming the image where one has no pixels or cannot be resized.
  std::vector<std::vector<FoundBox>> Detect(std::span<const Image> images, const DetectOptions& options = {}) const;
  std::vector<std::vector<FoundBox>> Detect(std::initializer_list<Image> images,
                                            const DetectOptions& options = {}) const {
    return Detect(std::span(images.begin(), images.size()), options);
  }

  // Detect in two steps, of which the first can be done ahead while the second computes: the image as resized for the
  // model, and what is found in such images, whose own sizes are `sizes`.
  Image Fit(const Image& image) const;
  std::vector<std::vector<FoundBox>> DetectFitted(std::span<const Image> fitted, std::span<const ImageSize> sizes,
                                                  const DetectOptions& options = {}) const;

  const std::vector<std::string>& labels() const;  // by FoundBox::label

 private:
  struct State;
  explicit ObjectDetector(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
