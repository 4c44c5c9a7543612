#include "headlight/pipelines/image_folder.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/encoder_folder.h"

namespace headlight {

void CheckImageOptions(const std::string& folder, const LoadOptions& options) {
  Check(!options.shortlist, "{}: shortlist is for a Translator: an image model has no output vocabulary", folder);
  Check(!options.draft, "{}: draft is for a Translator or a TextGenerator: an image model generates no text", folder);
}

ImageProcessor LoadColorProcessor(const std::string& folder, std::int64_t channels, Grid patch) {
  ImageProcessor processor = LoadImageProcessor(folder);
  Check(processor.clusters.empty(),
        "{}: its preprocessor_config.json makes colors of a palette, which this model does "
        "not read",
        folder);
  Check(channels == 3, "{}: the model reads images of {} channels; red, green and blue are 3", folder, channels);
  constexpr ImageSize kLarge = {4096, 4096};
  const ImageSize size = processor.crop.value_or(ResizedSize(processor.resize, kLarge));
  Check(size.height >= patch.height && size.width >= patch.width,
        "{}/preprocessor_config.json: its images of {} x {} pixels are smaller than a patch of the model, {} x {}",
        folder, size.width, size.height, patch.width, patch.height);
  return processor;
}

ImageFolder LoadImageFolder(const std::string& folder, const LoadOptions& options) {
  CheckImageOptions(folder, options);
  auto model = LoadModel<ImageEncoder>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  ImageProcessor processor = LoadColorProcessor(folder, model->limits().channels, model->limits().patch);
  return {std::move(model), std::move(processor)};
}

DetectorFolder LoadDetectorFolder(const std::string& folder, const LoadOptions& options) {
  CheckImageOptions(folder, options);
  auto model = LoadModel<DetectionModel>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  ImageProcessor processor = LoadColorProcessor(folder, model->limits().channels);
  // Boxes are relative to the processed image. If it were cropped, they would not fit the original image.
  Check(!processor.crop && processor.resize.kind != ResizeRule::Kind::cropped,
        "{}: its preprocessor_config.json crops images, in which a detector would miss objects outside the crop",
        folder);
  return {std::move(model), std::move(processor)};
}

std::string NameOfImage(const ImageName& name, std::size_t image) {
  return name ? name(image) : fmt::format("image {}", image + 1);
}

std::vector<Image> FitImages(const ImageProcessor& processor, std::span<const Image> images, const ImageName& name) {
  std::vector<Image> fitted(images.size());
  ParallelFor(std::ssize(images), [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    const Image& image = images[i];
    Check(image.height > 0 && image.width > 0 && image.height * image.width * 3 == std::ssize(image.pixels),
          "{}: {} x {} pixels of 3 bytes, and {} bytes", NameOfImage(name, i), image.width, image.height,
          image.pixels.size());
    try {
      fitted[i] = processor.Fit(image);
    } catch (const Error& error) {
      throw Error(NameOfImage(name, i) + ": " + error.what(), error.cause());
    }
  });
  return fitted;
}

std::int64_t PixelsAtOnce(std::int64_t batch_pixels, Grid patch) {
  constexpr std::int64_t usual = 16 * 16;
  const std::int64_t factor = std::max<std::int64_t>(1, patch.cells() / usual);
  return batch_pixels > std::numeric_limits<std::int64_t>::max() / factor ? batch_pixels : batch_pixels * factor;
}

void ForEachBatchOfValues(const ImageProcessor& processor, std::span<const Image> fitted, std::int64_t batch_pixels,
                          const ValuesBatch& compute) {
  Check(batch_pixels >= 1, "`batch_pixels` must be at least 1, not {}", batch_pixels);
  const auto pixels = [&](std::size_t i) { return fitted[i].height * fitted[i].width; };
  for (std::size_t begin = 0, end; begin < fitted.size(); begin = end) {
    std::int64_t sum = pixels(begin);
    for (end = begin + 1; end < fitted.size() && sum + pixels(end) <= batch_pixels; ++end) sum += pixels(end);
    std::vector<Tensor> values(end - begin);
    ParallelFor(std::ssize(values), [&](std::int64_t i) {
      values[static_cast<std::size_t>(i)] = processor.Values(fitted[begin + static_cast<std::size_t>(i)]);
    });
    compute(values, begin);
  }
}

void EncodeImages(const ImageFolder& folder, std::span<const Image> fitted, std::int64_t batch_pixels,
                  const EncodedBatch& done) {
  ForEachBatchOfValues(folder.processor, fitted, batch_pixels, [&](std::span<const Tensor> values, std::size_t first) {
    Context context;
    done(context, folder.model->Encode(context, values), first);
  });
}

std::vector<ImageSize> SizesOf(std::span<const Image> images) {
  std::vector<ImageSize> sizes;
  for (const Image& image : images) sizes.push_back({image.height, image.width});
  return sizes;
}

void DetectInBatches(const DetectorFolder& folder, std::span<const Image> fitted, std::span<const ImageSize> sizes,
                     double threshold, std::int64_t batch_pixels, const ImageName& name, const ImageDetected& done) {
  Check(sizes.size() == fitted.size(), "there are {} images, and the sizes of {}", fitted.size(), sizes.size());
  Check(threshold >= 0 && threshold <= 1, "threshold must be from 0 to 1, not {}", threshold);
  const DetectionModel& model = *folder.model;
  const std::int64_t queries = model.limits().queries;
  ForEachBatchOfValues(folder.processor, fitted, batch_pixels, [&](std::span<const Tensor> values, std::size_t first) {
    Context context;
    const DetectedImages found = model.Detect(context, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t row = static_cast<std::int64_t>(i) * queries;
      for (const Tensor& tensor : {found.layers.back().logits, found.layers.back().boxes})
        CheckFinite(tensor.ViewRows(row, queries), model, "detecting in " + NameOfImage(name, first + i));
      done(context, found, row, first + i);
    }
  });
}

}  // namespace headlight
