// Object detection in images.
//   const ObjectDetector detector = ObjectDetector::Load("detr-resnet-50");
//   for (const DetectedObject& found : detector.Detect(ReadImage("street.jpg")))
//     fmt::print("{} {:.2f} at {}, {}\n", found.label, found.score, found.box.left, found.box.top);
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
  double threshold = 0.5;               ///< only objects with a score above this are returned; 0 to 1
  std::int64_t batch_pixels = 1 << 20;  ///< pixels of resized images that are computed at once, at least 1
  std::function<std::string(std::size_t image)> name_of = {};  ///< image name in error messages; "image 1" by default
};

/// An object in an image.
struct DetectedObject {
  std::string label;
  double score = 0;           ///< the probability of the label, 0 to 1
  Box box;                    ///< in pixels of the original image; may extend beyond the image's edges
  std::int32_t label_id = 0;  ///< the label's index in labels()
  bool operator==(const DetectedObject&) const = default;
};

/// Detects objects in images. Immutable and cheap to copy. All methods are thread-safe. The objects of an image do not
/// depend on the other images of a call: images are not padded.
class HEADLIGHT_API ObjectDetector {
 public:
  /// Loads the folder of a DETR and its preprocessor_config.json. Throws Error that names the file and the problem if a
  /// file is invalid or not supported.
  static ObjectDetector Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the objects of each image, the highest score first. Throws Error that names the image if it has no pixels
  /// or cannot be resized.
  std::vector<std::vector<DetectedObject>> Detect(std::span<const Image> images,
                                                  const DetectOptions& options = {}) const;
  std::vector<std::vector<DetectedObject>> Detect(std::initializer_list<Image> images,
                                                  const DetectOptions& options = {}) const {
    return Detect(std::span(images.begin(), images.size()), options);
  }
  /// Returns the objects of one image.
  std::vector<DetectedObject> Detect(const Image& image, const DetectOptions& options = {}) const {
    return Detect(std::span(&image, 1), options).front();
  }

  /// Perform Detect in two steps, so that other threads can prepare the next images during the computation. Fit resizes
  /// an image for the model, and DetectFitted finds the objects of such images. `sizes` has the original sizes of the
  /// images.
  Image Fit(const Image& image) const;
  std::vector<std::vector<DetectedObject>> DetectFitted(std::span<const Image> fitted, std::span<const ImageSize> sizes,
                                                        const DetectOptions& options = {}) const;

  const std::vector<std::string>& labels() const;  ///< indexed by DetectedObject::label_id

 private:
  struct State;
  explicit ObjectDetector(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
