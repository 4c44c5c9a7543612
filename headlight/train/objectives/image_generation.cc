#include "headlight/train/objectives/image_generation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/projection_cross_entropy.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {
namespace {

void CheckImages(const LanguageModel& model, const ColorImages& images, const char* purpose) {
  Check(model.outputs() > 0, "{}: this model has no head that predicts the next color", model.parameters().source());
  Check(images.pixels() > 0 && images.count() > 0, "there is no image to {}", purpose);
  const std::string& source = model.parameters().source();
  const LanguageModel::Limits& limits = model.limits();
  Check(images.pixels() <= limits.positions,
        "{}: the images to {} have {} x {} pixels, but the model generates at most {} pixels", source, purpose,
        images.size.width, images.size.height, limits.positions);
  const std::uint16_t last = *std::ranges::max_element(images.colors);
  Check(last < limits.vocabulary - 1, "{}: the images to {} have color {}, but the model has {}, counted from 0",
        source, purpose, last, limits.vocabulary - 1);
}

// Returns the images as examples. If `flip` is set, half of the images are flipped horizontally.
TokenExamples ExamplesOf(const ColorImages& images, const LanguageModel& model, bool flip) {
  return {.size = images.count(),
          .length =
              [](std::int64_t) {
                return ExampleLength{1, 0};
              },
          .append =
              [&images, flip, start = static_cast<std::int32_t>(model.limits().vocabulary - 1)](
                  std::int64_t index, Random& random, TokenBatch& batch) {
                const std::span<const std::uint16_t> colors = images[index];
                std::vector<std::int32_t> labels(colors.begin(), colors.end());
                if (flip && random.Below(2) == 1)
                  for (auto row = labels.begin(); row != labels.end(); row += images.size.width)
                    std::reverse(row, row + images.size.width);
                batch.target_inputs.push_back(start);
                batch.target_inputs.insert(batch.target_inputs.end(), labels.begin(), labels.end() - 1);
                AppendRows(batch.labels, batch.target, labels);
              }};
}

Tensor LossOf(const LanguageModel& model, Context& context, const TokenBatch& batch, double scale) {
  return ops::ProjectionCrossEntropy(model.Decode(context, batch.target_inputs, batch.target),
                                     model.OutputWeight(context), model.OutputBias(context), batch.labels,
                                     /*label_smoothing=*/0, scale, /*r_drop=*/0, model.logit_cap());
}

}  // namespace

double ColorEntropy(const ColorImages& images) {
  std::vector<double> counts(std::size_t{1} << 16);
  for (const std::uint16_t color : images.colors) ++counts[color];
  const auto all = static_cast<double>(images.colors.size());
  double bits = 0;
  for (const double count : counts)
    if (count > 0) bits -= count / all * std::log2(count / all);
  return bits;
}

ValidationReport ValidateImages(const LanguageModel& model, const ColorImages& images, const PassWatch& watch) {
  CheckImages(model, images, "validate on");
  const auto [sum, labels] =
      LossOfBatches(ExamplesOf(images, model, /*flip=*/false), watch,
                    [&](Context& context, const TokenBatch& batch) { return LossOf(model, context, batch, 1); });
  ValidationReport report = LossReport(sum, labels);
  report.more_scores = {{"bits_per_pixel", report.loss / std::numbers::ln2}};
  return report;
}

TrainingTask ImageGenerationTask(LanguageModel& model, const ColorSets& images, const ImageGenerationOptions& options) {
  CheckImages(model, images.train, "train on");
  CheckImages(model, images.valid, "validate on");
  return {.model = &model,
          .batches = BatchesOf(ExamplesOf(images.train, model, options.flip), options.batches),
          .loss = [&model](Context& context, const TrainingPart& part,
                           double scale) { return LossOf(model, context, part.As<TokenBatch>(), scale); },
          .validate = [&model,
                       &valid = images.valid](const PassWatch& watch) { return ValidateImages(model, valid, watch); },
          .scores = {"bits_per_pixel"}};
}

}  // namespace headlight
