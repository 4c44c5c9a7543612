// Shared by the tasks that read pictures: a model with its preparation of pictures, and batches of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/image/processor.h"
#include "headlight/nn/picture_encoder.h"
#include "headlight/tasks/load_options.h"

namespace headlight {

struct PictureFolder {
  std::unique_ptr<const PictureEncoder> model;
  PictureProcessor processor;
};

// Throws Error naming an option that models of pictures do not have.
void CheckPictureOptions(const std::string& folder, const LoadOptions& options);

// The folder's processor. Throws Error where it prepares colours of a palette, and where the model does not read three
// channels.
PictureProcessor LoadColourProcessor(const std::string& folder, std::int64_t channels);

// Throws Error where the folder does not hold an encoder of coloured pictures and how they are prepared, and for
// options that such encoders do not have.
PictureFolder LoadPictureFolder(const std::string& folder, const LoadOptions& options = {});

// The name of a picture in errors, by its index: "picture 1" for the first, unless `name` is given.
using PictureName = std::function<std::string(std::size_t picture)>;
std::string NameOfPicture(const PictureName& name, std::size_t picture);

// Each as the model's processor resizes and crops it. Throws Error naming the picture where it has no pixels or cannot
// be resized.
std::vector<Picture> FitPictures(const PictureProcessor& processor, std::span<const Picture> pictures,
                                 const PictureName& name);

// Calls `compute` for pictures from FitPictures in their order, in batches of at most `batch_pixels` pixels or of one
// picture, with their values and the index of the first.
using ValuesBatch = std::function<void(std::span<const Tensor> values, std::size_t first)>;
void ForEachBatchOfValues(const PictureProcessor& processor, std::span<const Picture> fitted, std::int64_t batch_pixels,
                          const ValuesBatch& compute);

// Encodes pictures in such batches. `done` receives the states of a batch and the index of its first picture.
using EncodedBatch = std::function<void(Context& context, const EncodedPictures& encoded, std::size_t first)>;
void EncodePictures(const PictureFolder& folder, std::span<const Picture> fitted, std::int64_t batch_pixels,
                    const EncodedBatch& done);

// One vector of each picture, [pictures, model]: the state of the class token, or of a model without one the mean of
// all states.
Tensor PictureVectors(const PictureEncoder& model, const EncodedPictures& encoded);

}  // namespace headlight
