#include "headlight/pipelines/object_detector.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "headlight/pipelines/image_folder.h"

namespace headlight {

struct ObjectDetector::State {
  DetectorFolder loaded;
};

ObjectDetector ObjectDetector::Load(const std::string& folder, const LoadOptions& options) {
  return ObjectDetector(std::make_shared<State>(State{LoadDetectorFolder(folder, options)}));
}

std::vector<std::vector<DetectedObject>> ObjectDetector::Detect(std::span<const Image> images,
                                                                const DetectOptions& options) const {
  return DetectFitted(FitImages(state_->loaded.processor, images, options.name_of), SizesOf(images), options);
}

Image ObjectDetector::Fit(const Image& image) const { return state_->loaded.processor.Fit(image); }

std::vector<std::vector<DetectedObject>> ObjectDetector::DetectFitted(std::span<const Image> fitted,
                                                                      std::span<const ImageSize> sizes,
                                                                      const DetectOptions& options) const {
  std::vector<std::vector<DetectedObject>> result(fitted.size());
  DetectInBatches(state_->loaded, fitted, sizes, options.threshold, options.batch_pixels, options.name_of,
                  [&](Context&, const DetectedImages& found, std::int64_t row, std::size_t image) {
                    const auto [height, width] = sizes[image];
                    std::vector<DetectedObject>& objects = result[image];
                    for (const auto& [box, label, score] :
                         FindingsOf(found.layers.back(), row, state_->loaded.model->limits().queries))
                      if (score > options.threshold)
                        objects.push_back({labels()[static_cast<std::size_t>(label)], score,
                                           BoxOfShares(box[0], box[1], box[2], box[3], height, width), label});
                    std::ranges::stable_sort(objects, std::greater{}, &DetectedObject::score);
                  });
  return result;
}

const std::vector<std::string>& ObjectDetector::labels() const { return state_->loaded.model->labels(); }

}  // namespace headlight
