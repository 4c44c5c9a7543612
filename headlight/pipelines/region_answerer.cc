#include "headlight/pipelines/region_answerer.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/image/box_regions.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/ops/softmax.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/image_folder.h"
#include "headlight/pipelines/region_folder.h"

namespace headlight {

struct RegionAnswerer::State {
  RegionFolder loaded;
  std::optional<ImageProcessor> processor = {};  // for a model whose inputs are whole images

  Regions RegionsOf(const Image& image, std::span<const Box> boxes) const;
};

Regions RegionAnswerer::State::RegionsOf(const Image& image, std::span<const Box> boxes) const {
  const RegionTextEncoder::Limits& limits = loaded.model->limits();
  if (processor) {
    Check(boxes.empty(), "this model reads whole images, and no boxes");
    const std::vector<Image> fitted = FitImages(*processor, std::span(&image, 1), {});
    return PatchRegions(std::vector{processor->Values(fitted.front())}, limits.patch, limits.channels);
  }
  std::vector<Box> within;
  std::ranges::copy_if(boxes, std::back_inserter(within), [&](const Box& box) { return IsWithin(box, image); });
  const BoxRegions regions = RegionsOfBoxes(image, within, loaded.side, limits.box_numbers);
  return {regions.features, regions.places, {{0, static_cast<std::int32_t>(regions.features.rows())}}};
}

bool RegionAnswerer::reads_boxes() const { return !state_->processor.has_value(); }

RegionAnswerer RegionAnswerer::Load(const std::string& folder, const LoadOptions& options) {
  RegionFolder loaded = LoadRegionFolder(folder, options);
  const RegionTextEncoder& model = *loaded.model;
  Check(model.pair_heads().answers, "{}: the model has no head for answers", folder);
  State state{std::move(loaded)};
  if (state.loaded.side == 0)
    state.processor = LoadColorProcessor(folder, model.limits().channels, model.limits().patch);
  return RegionAnswerer(std::make_shared<State>(std::move(state)));
}

std::vector<VisualAnswer> RegionAnswerer::Answer(const Image& image, std::span<const Box> boxes,
                                                 std::string_view question, std::int64_t top_k) const {
  Check(top_k >= 1, "`top_k` must be at least 1, not {}", top_k);
  const RegionTextEncoder& model = *state_->loaded.model;
  const Encoding encoding = ReadQuestion(state_->loaded, question);
  Context context;
  const std::span<const std::int32_t> types = encoding.type_ids;
  const EncodedPairs encoded =
      model.Encode(context, encoding.ids, model.limits().types <= 1 ? types.first(0) : types,
                   {{0, static_cast<std::int32_t>(encoding.ids.size())}}, state_->RegionsOf(image, boxes));
  const Tensor shares = ops::Softmax(model.AnswerLogits(context, model.Pool(context, encoded)));
  CheckFinite(shares, model, "answering a question");
  std::vector<VisualAnswer> answers;
  for (std::size_t i = 0; i < model.labels().size(); ++i)
    answers.push_back({model.labels()[i], static_cast<double>(shares.data<float>()[i])});
  std::ranges::stable_sort(answers, std::greater{}, &VisualAnswer::score);
  answers.resize(static_cast<std::size_t>(std::min(top_k, std::ssize(answers))));
  return answers;
}

}  // namespace headlight
