#include "headlight/train/objectives/image_codes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/image/crop.h"
#include "headlight/image/processor.h"
#include "headlight/kernels/gumbel.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/softmax.h"
#include "headlight/ops/uniform_divergence.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

struct Part {
  FeatureMaps pixels;
  std::uint64_t seed = 0;  // seed of the Gumbel noise
  std::int64_t batch = 0;  // number of earlier batches
};

std::int64_t ImagesOfPart(const ImageCoder& model, std::int64_t images) {
  const std::int64_t at_once = ImagesAtOnce(model);
  const std::int64_t parts = std::max<std::int64_t>(1, (images + at_once / 2) / at_once);
  return (images + parts - 1) / parts;
}

// Returns a value that follows a cosine from `first` to `last` over `batches` steps, and is constant afterwards.
double Annealed(double first, double last, std::int64_t batch, std::int64_t batches) {
  if (batch >= batches) return last;
  const double done = static_cast<double>(batch) / static_cast<double>(batches);
  return last + (first - last) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

Tensor GumbelNoise(const Shape& shape, DType dtype, std::uint64_t seed) {
  const Tensor noise = Tensor::Empty(shape, dtype);
  Dispatch(dtype, [&]<typename T>(T) { kernels::GumbelRows(seed, noise.matrix<T>()); });
  return noise;
}

// Returns the number of values of an image (pixels times channels).
double NumbersOf(const FeatureMaps& pixels) {
  return static_cast<double>(pixels.rows.elements()) / static_cast<double>(pixels.grids.size());
}

Tensor LossOf(const ImageCoder& model, Context& context, const Part& part, double scale,
              const ImageCodesOptions& options) {
  const FeatureMaps scores = model.Encode(context, part.pixels);
  const double temperature =
      Annealed(options.first_temperature, options.temperature, part.batch, options.temperature_batches);
  const double divergence_weight =
      Annealed(options.first_divergence_weight, options.divergence_weight, part.batch, options.divergence_batches);
  const Tensor noise = GumbelNoise(scores.rows.shape(), scores.rows.dtype(), part.seed);
  const FeatureMaps weights = {ops::Softmax(ops::Scale(ops::Add(scores.rows, noise), 1 / temperature)), scores.grids};
  scale /= NumbersOf(part.pixels);
  const Tensor loss = ReconstructionLoss(model, model.Decode(context, weights).rows, part.pixels.rows, scale);
  if (divergence_weight == 0) return loss;
  return ops::Add(loss, ops::UniformDivergence(scores.rows, scale * divergence_weight));
}

// Returns the images' pixels [pixels, 3], from 0 to 1.
FeatureMaps PixelsOfImages(std::span<const Image> images, const ImageProcessor& processor) {
  std::vector<Tensor> values(images.size());
  ParallelFor(std::ssize(images), [&](std::int64_t i) {
    values[static_cast<std::size_t>(i)] = processor.Values(images[static_cast<std::size_t>(i)]);
  });
  return MapsOf(values, 3, DType::float32);
}

}  // namespace

ValidationReport ValidateImageCodes(const ImageCoder& model, const ImageSet& valid, const PassWatch& watch) {
  Check(valid.size() > 0, "there is no image to validate on");
  const ImageProcessor processor = CenterSquare(model.limits().image);
  const std::int64_t at_once = ImagesAtOnce(model);
  std::vector<std::int64_t> used(static_cast<std::size_t>(model.limits().codes));
  ValidationReport report;
  const auto blocks = SharedBlocks(watch, valid.size(), at_once, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Image> images(static_cast<std::size_t>(end - begin));
    ParallelFor(std::ssize(images),
                [&](std::int64_t i) { images[static_cast<std::size_t>(i)] = processor.Fit(valid[begin + i]); });
    const FeatureMaps pixels = PixelsOfImages(images, processor);
    Context context;
    const FeatureMaps scores = model.Encode(context, pixels);
    const std::vector<std::int32_t> codes = LikeliestCodes(model, scores.rows);
    const Tensor decoded = model.Decode(context, WeightsOf(model, codes, scores.grids)).rows;
    const Tensor seen = PixelsOf(model, decoded);
    const auto numbers = static_cast<std::int64_t>(NumbersOf(pixels));
    double ratios = 0;  // sum of signal-to-noise ratios, in decibels
    for (std::int64_t image = 0; image < std::ssize(images); ++image) {
      double squares = 0;
      for (std::int64_t i = image * numbers; i < (image + 1) * numbers; ++i) {
        const double error = static_cast<double>(seen.data<float>()[i] - pixels.rows.data<float>()[i]);
        squares += error * error;
      }
      // A perfect reconstruction would have an infinite ratio. The squared error per value is therefore at least
      // (1e-3 / 255)^2.
      constexpr double least = 1e-6 / (255.0 * 255.0);
      ratios -= 10 * std::log10(std::max(squares / static_cast<double>(numbers), least));
    }
    std::vector<double> found = {
        static_cast<double>(ReconstructionLoss(model, decoded, pixels.rows, 1 / NumbersOf(pixels)).data<float>()[0]),
        ratios};
    found.insert(found.end(), codes.begin(), codes.end());
    return found;
  });
  for (const std::vector<double>& block : blocks) {
    report.loss += block[0];
    report.score += block[1];
    for (const double code : std::span(block).subspan(2)) ++used[static_cast<std::size_t>(code)];
  }
  report.loss /= static_cast<double>(valid.size());
  report.score /= static_cast<double>(valid.size());
  report.score_name = "psnr";
  report.labels = valid.size();
  std::int64_t cells = 0;
  for (const std::int64_t count : used) cells += count;
  double entropy = 0;
  for (const std::int64_t count : used)
    if (count > 0) {
      const double share = static_cast<double>(count) / static_cast<double>(cells);
      entropy -= share * std::log(share);
    }
  report.more_scores = {
      {"codes_used", static_cast<double>(std::ranges::count_if(used, [](std::int64_t count) { return count > 0; }))},
      {"code_perplexity", std::exp(entropy)}};
  return report;
}

TrainingTask ImageCodesTask(ImageCoder& model, const ImageSet& train, const ImageSet& valid,
                            const ImageCodesOptions& options) {
  Check(train.size() > 0 && valid.size() > 0, "there is no image to {}",
        train.size() == 0 ? "train on" : "validate on");
  const auto prepare = [&model, &train, options](const BatchPlan& plan) {
    TrainingBatch result{.parts = {}, .labels = std::ssize(plan.examples), .next = {}, .batches_in_epoch = 0};
    const auto of_part = static_cast<std::size_t>(ImagesOfPart(model, result.labels));
    for (std::size_t begin = 0; begin < plan.examples.size(); begin += of_part)
      result.parts.emplace_back(TrainingPart::Later([&model, &train, options, of_part, plan, begin] {
        const ImageProcessor processor = CenterSquare(model.limits().image);
        std::vector<Image> images;
        for (std::size_t i = begin; i < std::min(plan.examples.size(), begin + of_part); ++i) {
          Random random = RandomOfExample(options.batches.seed, plan.position.epoch, plan.examples[i]);
          Image image = processor.Fit(train[plan.examples[i]]);
          images.push_back(options.flip && random.Below(2) == 1 ? FlipHorizontally(image) : std::move(image));
        }
        Part part = {.pixels = PixelsOfImages(images, processor),
                     .batch = plan.position.epoch * plan.batches_in_epoch + plan.position.batch};
        // Each part has its own random stream. Its index is negative, so no example has the same stream.
        part.seed = RandomOfExample(options.batches.seed, part.batch, -1 - static_cast<std::int64_t>(begin))();
        return part;
      }));
    return result;
  };
  return {.model = &model,
          .batches = PreparedBatches(train.size(), options.batches, prepare),
          .loss = [&model, options](Context& context, const TrainingPart& part,
                                    double scale) { return LossOf(model, context, part.As<Part>(), scale, options); },
          .validate = [&model, &valid](const PassWatch& watch) { return ValidateImageCodes(model, valid, watch); },
          .scores = {"psnr", "codes_used", "code_perplexity"}};
}

}  // namespace headlight
