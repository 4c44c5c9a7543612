// Shared by the tasks that read pictures: a model with its preparation of pictures, and batches of them.
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
#include "headlight/kinds/object_detector.h"
#include "headlight/kinds/picture_encoder.h"
#include "headlight/tasks/load_options.h"

namespace headlight {

struct PictureFolder {
  std::unique_ptr<const PictureEncoder> model;
  PictureProcessor processor;
};

// Throws Error naming an option that models of pictures do not have.
void CheckPictureOptions(const std::string& folder, const LoadOptions& options);

// The folder's processor. Throws Error where it prepares colours of a palette or pictures that are smaller than a
// patch, and where the model does not read three channels.
PictureProcessor LoadColourProcessor(const std::string& folder, std::int64_t channels, Grid patch = {1, 1});

// Throws Error where the folder does not hold an encoder of coloured pictures and how they are prepared, and for
// options that such encoders do not have.
HEADLIGHT_API PictureFolder LoadPictureFolder(const std::string& folder, const LoadOptions& options = {});

struct DetectorFolder {
  std::unique_ptr<const ObjectDetector> model;
  PictureProcessor processor;
};

// The same of a detector. Throws Error, too, where its processor crops pictures.
DetectorFolder LoadDetectorFolder(const std::string& folder, const LoadOptions& options = {});

// The name of a picture in errors, by its index: "picture 1" for the first, unless `name` is given.
using PictureName = std::function<std::string(std::size_t picture)>;
std::string NameOfPicture(const PictureName& name, std::size_t picture);

// Each as the model's processor resizes and crops it. Throws Error naming the picture where it has no pixels or cannot
// be resized.
std::vector<Picture> FitPictures(const PictureProcessor& processor, std::span<const Picture> pictures,
                                 const PictureName& name);

// batch_pixels where patches have 16 x 16 pixels or fewer, more in proportion where they are larger: so many patches.
std::int64_t PixelsAtOnce(std::int64_t batch_pixels, Grid patch);

// Calls `compute` for pictures from FitPictures in their order, in batches of at most `batch_pixels` pixels or of one
// picture, with their values and the index of the first.
using ValuesBatch = std::function<void(std::span<const Tensor> values, std::size_t first)>;
void ForEachBatchOfValues(const PictureProcessor& processor, std::span<const Picture> fitted, std::int64_t batch_pixels,
                          const ValuesBatch& compute);

// Encodes pictures in such batches. `done` receives the states of a batch and the index of its first picture.
using EncodedBatch = std::function<void(Context& context, const EncodedPictures& encoded, std::size_t first)>;
HEADLIGHT_API void EncodePictures(const PictureFolder& folder, std::span<const Picture> fitted,
                                  std::int64_t batch_pixels, const EncodedBatch& done);

std::vector<PictureSize> SizesOf(std::span<const Picture> pictures);

// Runs a detector on pictures in such batches. `done` receives for each picture in turn what was found in its batch,
// the first of its own rows there, and its index. Throws Error naming the picture where an answer is NaN or infinite,
// and unless there is a size for each picture and `threshold` is from 0 to 1.
using PictureDetected =
    std::function<void(Context& context, const DetectedPictures& found, std::int64_t row, std::size_t picture)>;
void DetectInBatches(const DetectorFolder& folder, std::span<const Picture> fitted, std::span<const PictureSize> sizes,
                     double threshold, std::int64_t batch_pixels, const PictureName& name, const PictureDetected& done);

}  // namespace headlight
