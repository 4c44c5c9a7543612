#include "headlight/tasks/detector.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/nn/object_detector.h"
#include "headlight/tasks/encoder_folder.h"
#include "headlight/tasks/picture_folder.h"

namespace headlight {

struct Detector::State {
  std::unique_ptr<const ObjectDetector> model;
  PictureProcessor processor;
};

Detector Detector::Load(const std::string& folder, const LoadOptions& options) {
  CheckPictureOptions(folder, options);
  auto model = LoadModel<ObjectDetector>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  PictureProcessor processor = LoadColourProcessor(folder, model->limits().channels);
  // A box in a cropped picture is none in the whole one.
  Check(!processor.crop && processor.resize.kind != ResizeRule::Kind::cropped,
        "{}: its preprocessor_config.json crops pictures, in which a detector would miss what lies outside", folder);
  return Detector(std::make_shared<State>(State{std::move(model), std::move(processor)}));
}

std::vector<std::vector<FoundBox>> Detector::Detect(std::span<const Picture> pictures,
                                                    const DetectOptions& options) const {
  std::vector<PictureSize> sizes;
  for (const Picture& picture : pictures) sizes.push_back({picture.height, picture.width});
  return DetectFitted(FitPictures(state_->processor, pictures, options.name_of), sizes, options);
}

Picture Detector::Fit(const Picture& picture) const { return state_->processor.Fit(picture); }

std::vector<std::vector<FoundBox>> Detector::DetectFitted(std::span<const Picture> fitted,
                                                          std::span<const PictureSize> sizes,
                                                          const DetectOptions& options) const {
  Check(sizes.size() == fitted.size(), "there are {} pictures, and the sizes of {}", fitted.size(), sizes.size());
  Check(options.threshold >= 0 && options.threshold <= 1, "threshold must be from 0 to 1, not {}", options.threshold);
  const ObjectDetector& model = *state_->model;
  const std::int64_t queries = model.limits().queries;
  std::vector<std::vector<FoundBox>> result(fitted.size());
  ForEachBatchOfValues(
      state_->processor, fitted, options.batch_pixels, [&](std::span<const Tensor> values, std::size_t first) {
        Context context;
        const QueryAnswers answers = model.Detect(context, values).layers.back();
        for (std::size_t i = 0; i < values.size(); ++i) {
          const std::int64_t row = static_cast<std::int64_t>(i) * queries;
          for (const Tensor& tensor : {answers.logits, answers.boxes})
            CheckFinite(tensor.ViewRows(row, queries), model,
                        "detecting in " + NameOfPicture(options.name_of, first + i));
          const auto [height, width] = sizes[first + i];
          std::vector<FoundBox>& found = result[first + i];
          for (const auto& [box, label, score] : FindingsOf(answers, row, queries))
            if (score > options.threshold)
              found.push_back({BoxOfShares(box[0], box[1], box[2], box[3], height, width), label, score});
          std::ranges::stable_sort(found, std::greater{}, &FoundBox::score);
        }
      });
  return result;
}

const std::vector<std::string>& Detector::labels() const { return state_->model->labels(); }

}  // namespace headlight
