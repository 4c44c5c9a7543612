#include "headlight/pipelines/image_segmenter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/image_folder.h"

namespace headlight {
namespace {

constexpr std::size_t kQueriesAtOnce = 16;  // masks have a quarter of the image's rows and columns, and many channels

// Returns the segment candidates of the image with rows [first, first + queries), and the size of their masks.
std::vector<MaskedThing> ThingsOf(const DetectionModel& model, Context& context, const DetectedImages& found,
                                  std::int64_t first, double threshold, const std::string& name, ImageSize& size) {
  const QueryAnswers& answers = found.layers.back();
  const std::vector<QueryFinding> findings = FindingsOf(answers, first, model.limits().queries);
  std::vector<MaskedThing> things;
  std::vector<std::int32_t> queries;
  for (std::size_t query = 0; query < findings.size(); ++query) {
    const auto& [box, label, score] = findings[query];
    const float* const logits = answers.logits.matrix<float>().row(first + static_cast<std::int64_t>(query));
    if (score <= threshold || logits[answers.logits.columns() - 1] > logits[label])
      continue;  // "no object" is more probable
    queries.push_back(static_cast<std::int32_t>(first) + static_cast<std::int32_t>(query));
    things.push_back({.label = label, .score = static_cast<float>(score)});
  }
  for (std::size_t begin = 0; begin < queries.size(); begin += kQueriesAtOnce) {
    const std::size_t count = std::min(kQueriesAtOnce, queries.size() - begin);
    const ops::FeatureMaps masks = model.Masks(context, found, std::span(queries).subspan(begin, count));
    CheckFinite(masks.rows, model, "segmenting " + name);
    size = {masks.grids[0].height, masks.grids[0].width};
    const float* from = masks.rows.data<float>();
    for (std::size_t i = begin; i < begin + count; ++i)
      for (std::int64_t cell = 0; cell < masks.grids[0].cells(); ++cell)
        things[i].mask.push_back(1 / (1 + std::exp(-*from++)));
  }
  return things;
}

}  // namespace

struct ImageSegmenter::State {
  DetectorFolder loaded;
};

ImageSegmenter ImageSegmenter::Load(const std::string& folder, const LoadOptions& options) {
  DetectorFolder loaded = LoadDetectorFolder(folder, options);
  Check(loaded.model->limits().masks, "{}: the model finds boxes and has no head for masks", folder);
  return ImageSegmenter(std::make_shared<State>(State{std::move(loaded)}));
}

std::vector<Segmentation> ImageSegmenter::Segment(std::span<const Image> images, const SegmentOptions& options) const {
  return SegmentFitted(FitImages(state_->loaded.processor, images, options.name_of), SizesOf(images), options);
}

Image ImageSegmenter::Fit(const Image& image) const { return state_->loaded.processor.Fit(image); }

std::vector<Segmentation> ImageSegmenter::SegmentFitted(std::span<const Image> fitted, std::span<const ImageSize> sizes,
                                                        const SegmentOptions& options) const {
  std::vector<Segmentation> result(fitted.size());
  DetectInBatches(state_->loaded, fitted, sizes, options.threshold, options.batch_pixels, options.name_of,
                  [&](Context& context, const DetectedImages& found, std::int64_t row, std::size_t image) {
                    ImageSize size;
                    const std::vector<MaskedThing> things =
                        ThingsOf(*state_->loaded.model, context, found, row, options.threshold,
                                 NameOfImage(options.name_of, image), size);
                    result[image] = SegmentsOf(things, size, sizes[image], options.rules);
                    for (ImageSegment& segment : result[image].segments)
                      segment.label = labels()[static_cast<std::size_t>(segment.label_id)];
                  });
  return result;
}

const std::vector<std::string>& ImageSegmenter::labels() const { return state_->loaded.model->labels(); }

}  // namespace headlight
