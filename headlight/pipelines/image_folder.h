// Shared by the tasks that read images: a model with its preparation of images, and batches of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct ImageFolder {
  std::unique_ptr<const ImageEncoder> model;
  ImageProcessor processor;
};

// Throws Error naming an option that models of images do not have.
void CheckImageOptions(const std::string& folder, const LoadOptions& options);

// The folder's processor. Throws Error where it prepares colours of a palette or images that are smaller than a
// patch, and where the model does not read three channels.
ImageProcessor LoadColourProcessor(const std::string& folder, std::int64_t channels, Grid patch = {1, 1});

// Throws Error where the folder does not hold an encoder of coloured images and how they are prepared, and for
// options that such encoders do not have.
HEADLIGHT_API ImageFolder LoadImageFolder(const std::string& folder, const LoadOptions& options = {});

struct DetectorFolder {
  std::unique_ptr<const DetectionModel> model;
  ImageProcessor processor;
};

// The same of a detector. Throws Error, too, where its processor crops images.
DetectorFolder LoadDetectorFolder(const std::string& folder, const LoadOptions& options = {});

// The name of an image in errors, by its index: "image 1" for the first, unless `name` is given.
using ImageName = std::function<std::string(std::size_t image)>;
std::string NameOfImage(const ImageName& name, std::size_t image);

// Each as the model's processor resizes and crops it. Throws Error naming the image where it has no pixels or cannot
// be resized.
std::vector<Image> FitImages(const ImageProcessor& processor, std::span<const Image> images, const ImageName& name);

// batch_pixels where patches have 16 x 16 pixels or fewer, more in proportion where they are larger: so many patches.
std::int64_t PixelsAtOnce(std::int64_t batch_pixels, Grid patch);

// Calls `compute` for images from FitImages in their order, in batches of at most `batch_pixels` pixels or of one
// image, with their values and the index of the first.
using ValuesBatch = std::function<void(std::span<const Tensor> values, std::size_t first)>;
void ForEachBatchOfValues(const ImageProcessor& processor, std::span<const Image> fitted, std::int64_t batch_pixels,
                          const ValuesBatch& compute);

// Encodes images in such batches. `done` receives the states of a batch and the index of its first image.
using EncodedBatch = std::function<void(Context& context, const EncodedImages& encoded, std::size_t first)>;
HEADLIGHT_API void EncodeImages(const ImageFolder& folder, std::span<const Image> fitted, std::int64_t batch_pixels,
                                const EncodedBatch& done);

std::vector<ImageSize> SizesOf(std::span<const Image> images);

// Runs a detector on images in such batches. `done` receives for each image in turn what was found in its batch,
// the first of its own rows there, and its index. Throws Error naming the image where an answer is NaN or infinite,
// and unless there is a size for each image and `threshold` is from 0 to 1.
using ImageDetected =
    std::function<void(Context& context, const DetectedImages& found, std::int64_t row, std::size_t image)>;
void DetectInBatches(const DetectorFolder& folder, std::span<const Image> fitted, std::span<const ImageSize> sizes,
                     double threshold, std::int64_t batch_pixels, const ImageName& name, const ImageDetected& done);

}  // namespace headlight
