#include "headlight/tasks/detector.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "headlight/tasks/picture_folder.h"

namespace headlight {

struct Detector::State {
  DetectorFolder loaded;
};

Detector Detector::Load(const std::string& folder, const LoadOptions& options) {
  return Detector(std::make_shared<State>(State{LoadDetectorFolder(folder, options)}));
}

std::vector<std::vector<FoundBox>> Detector::Detect(std::span<const Picture> pictures,
                                                    const DetectOptions& options) const {
  return DetectFitted(FitPictures(state_->loaded.processor, pictures, options.name_of), SizesOf(pictures), options);
}

Picture Detector::Fit(const Picture& picture) const { return state_->loaded.processor.Fit(picture); }

std::vector<std::vector<FoundBox>> Detector::DetectFitted(std::span<const Picture> fitted,
                                                          std::span<const PictureSize> sizes,
                                                          const DetectOptions& options) const {
  std::vector<std::vector<FoundBox>> result(fitted.size());
  DetectInBatches(state_->loaded, fitted, sizes, options.threshold, options.batch_pixels, options.name_of,
                  [&](Context&, const DetectedPictures& found, std::int64_t row, std::size_t picture) {
                    const auto [height, width] = sizes[picture];
                    std::vector<FoundBox>& boxes = result[picture];
                    for (const auto& [box, label, score] :
                         FindingsOf(found.layers.back(), row, state_->loaded.model->limits().queries))
                      if (score > options.threshold)
                        boxes.push_back({BoxOfShares(box[0], box[1], box[2], box[3], height, width), label, score});
                    std::ranges::stable_sort(boxes, std::greater{}, &FoundBox::score);
                  });
  return result;
}

const std::vector<std::string>& Detector::labels() const { return state_->loaded.model->labels(); }

}  // namespace headlight
