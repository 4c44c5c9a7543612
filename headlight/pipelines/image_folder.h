// An image model with its image processor. Processes images in batches. Used by several pipelines.
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

/// Throws Error naming an option that image models do not have.
void CheckImageOptions(const std::string& folder, const LoadOptions& options);

/// Loads the folder's image processor. Throws Error if it maps pixels to a palette, or if its images are smaller than a
/// patch. Throws Error unless the model has three input channels.
ImageProcessor LoadColorProcessor(const std::string& folder, std::int64_t channels, Grid patch = {1, 1});

/// Loads an image encoder with its image processor. Throws Error if the folder has no image encoder with three channels
/// or no image processor, and for options that image encoders do not have.
HEADLIGHT_API ImageFolder LoadImageFolder(const std::string& folder, const LoadOptions& options = {});

struct DetectorFolder {
  std::unique_ptr<const DetectionModel> model;
  ImageProcessor processor;
};

/// Loads a detector with its image processor. Throws the same errors as LoadImageFolder, and Error if the image
/// processor crops images.
DetectorFolder LoadDetectorFolder(const std::string& folder, const LoadOptions& options = {});

/// Returns the name of an image in error messages: name(image), or by default "image 1" for the first image.
using ImageName = std::function<std::string(std::size_t image)>;
std::string NameOfImage(const ImageName& name, std::size_t image);

/// Resizes and crops each image with the model's image processor. Throws Error naming the image if it has no pixels or
/// cannot be resized.
std::vector<Image> FitImages(const ImageProcessor& processor, std::span<const Image> images, const ImageName& name);

/// Returns the number of pixels per batch: `batch_pixels` for patches of at most 16 x 16 pixels. For larger patches,
/// this number is scaled by the patch area, so that the number of patches stays the same.
std::int64_t PixelsAtOnce(std::int64_t batch_pixels, Grid patch);

/// Calls `compute` for images from FitImages, in order, in batches of at most `batch_pixels` pixels. A larger image is
/// a batch of one image. `compute` receives the pixel values and the index of the first image.
using ValuesBatch = std::function<void(std::span<const Tensor> values, std::size_t first)>;
void ForEachBatchOfValues(const ImageProcessor& processor, std::span<const Image> fitted, std::int64_t batch_pixels,
                          const ValuesBatch& compute);

/// Encodes images in the batches of ForEachBatchOfValues. `done` receives the states of a batch and the index of its
/// first image.
using EncodedBatch = std::function<void(Context& context, const EncodedImages& encoded, std::size_t first)>;
HEADLIGHT_API void EncodeImages(const ImageFolder& folder, std::span<const Image> fitted, std::int64_t batch_pixels,
                                const EncodedBatch& done);

std::vector<ImageSize> SizesOf(std::span<const Image> images);

/// Runs a detector on images in the batches of ForEachBatchOfValues. `done` is called for each image in order. It
/// receives the output of the batch, the first row of the image in this output, and the index of the image. Throws
/// Error naming the image if an output is NaN or infinite. Throws Error unless there is one size per image and
/// `threshold` is from 0 to 1.
using ImageDetected =
    std::function<void(Context& context, const DetectedImages& found, std::int64_t row, std::size_t image)>;
void DetectInBatches(const DetectorFolder& folder, std::span<const Image> fitted, std::span<const ImageSize> sizes,
                     double threshold, std::int64_t batch_pixels, const ImageName& name, const ImageDetected& done);

}  // namespace headlight
