#include "headlight/tasks/picture_folder.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/models/family.h"
#include "headlight/tasks/encoder_folder.h"

namespace headlight {

void CheckPictureOptions(const std::string& folder, const LoadOptions& options) {
  Check(!options.shortlist, "{}: shortlist is for a Translator: a model of pictures chooses no words", folder);
  Check(!options.draft, "{}: draft is for a Translator or a Generator: a model of pictures writes no text", folder);
}

PictureProcessor LoadColourProcessor(const std::string& folder, std::int64_t channels, Grid patch) {
  PictureProcessor processor = LoadPictureProcessor(folder);
  Check(processor.clusters.empty(),
        "{}: its preprocessor_config.json makes colours of a palette, which this model does "
        "not read",
        folder);
  Check(channels == 3, "{}: the model reads pictures of {} channels; red, green and blue are 3", folder, channels);
  constexpr PictureSize kLarge = {4096, 4096};
  const PictureSize size = processor.crop.value_or(ResizedSize(processor.resize, kLarge));
  Check(size.height >= patch.height && size.width >= patch.width,
        "{}/preprocessor_config.json: its pictures of {} x {} pixels are smaller than a patch of the model, {} x {}",
        folder, size.width, size.height, patch.width, patch.height);
  return processor;
}

PictureFolder LoadPictureFolder(const std::string& folder, const LoadOptions& options) {
  CheckPictureOptions(folder, options);
  auto model = LoadModel<PictureEncoder>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  PictureProcessor processor = LoadColourProcessor(folder, model->limits().channels, model->limits().patch);
  return {std::move(model), std::move(processor)};
}

DetectorFolder LoadDetectorFolder(const std::string& folder, const LoadOptions& options) {
  CheckPictureOptions(folder, options);
  auto model = LoadModel<ObjectDetector>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  PictureProcessor processor = LoadColourProcessor(folder, model->limits().channels);
  // A box in a cropped picture is none in the whole one.
  Check(!processor.crop && processor.resize.kind != ResizeRule::Kind::cropped,
        "{}: its preprocessor_config.json crops pictures, in which a detector would miss what lies outside", folder);
  return {std::move(model), std::move(processor)};
}

std::string NameOfPicture(const PictureName& name, std::size_t picture) {
  return name ? name(picture) : fmt::format("picture {}", picture + 1);
}

std::vector<Picture> FitPictures(const PictureProcessor& processor, std::span<const Picture> pictures,
                                 const PictureName& name) {
  std::vector<Picture> fitted(pictures.size());
  ParallelFor(std::ssize(pictures), [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    const Picture& picture = pictures[i];
    Check(picture.height > 0 && picture.width > 0 && picture.height * picture.width * 3 == std::ssize(picture.pixels),
          "{}: {} x {} pixels of 3 bytes, and {} bytes", NameOfPicture(name, i), picture.width, picture.height,
          picture.pixels.size());
    try {
      fitted[i] = processor.Fit(picture);
    } catch (const Error& error) {
      throw Error(NameOfPicture(name, i) + ": " + error.what(), error.blame());
    }
  });
  return fitted;
}

std::int64_t PixelsAtOnce(std::int64_t batch_pixels, Grid patch) {
  constexpr std::int64_t usual = 16 * 16;
  const std::int64_t factor = std::max<std::int64_t>(1, patch.cells() / usual);
  return batch_pixels > std::numeric_limits<std::int64_t>::max() / factor ? batch_pixels : batch_pixels * factor;
}

void ForEachBatchOfValues(const PictureProcessor& processor, std::span<const Picture> fitted, std::int64_t batch_pixels,
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

void EncodePictures(const PictureFolder& folder, std::span<const Picture> fitted, std::int64_t batch_pixels,
                    const EncodedBatch& done) {
  ForEachBatchOfValues(folder.processor, fitted, batch_pixels, [&](std::span<const Tensor> values, std::size_t first) {
    Context context;
    done(context, folder.model->Encode(context, values), first);
  });
}

std::vector<PictureSize> SizesOf(std::span<const Picture> pictures) {
  std::vector<PictureSize> sizes;
  for (const Picture& picture : pictures) sizes.push_back({picture.height, picture.width});
  return sizes;
}

void DetectInBatches(const DetectorFolder& folder, std::span<const Picture> fitted, std::span<const PictureSize> sizes,
                     double threshold, std::int64_t batch_pixels, const PictureName& name,
                     const PictureDetected& done) {
  Check(sizes.size() == fitted.size(), "there are {} pictures, and the sizes of {}", fitted.size(), sizes.size());
  Check(threshold >= 0 && threshold <= 1, "threshold must be from 0 to 1, not {}", threshold);
  const ObjectDetector& model = *folder.model;
  const std::int64_t queries = model.limits().queries;
  ForEachBatchOfValues(folder.processor, fitted, batch_pixels, [&](std::span<const Tensor> values, std::size_t first) {
    Context context;
    const DetectedPictures found = model.Detect(context, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t row = static_cast<std::int64_t>(i) * queries;
      for (const Tensor& tensor : {found.layers.back().logits, found.layers.back().boxes})
        CheckFinite(tensor.ViewRows(row, queries), model, "detecting in " + NameOfPicture(name, first + i));
      done(context, found, row, first + i);
    }
  });
}

}  // namespace headlight
