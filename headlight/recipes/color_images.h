// Reads images from files as inputs of an ImageGPT.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/data/color_images.h"
#include "headlight/data/text_share.h"
#include "headlight/image/image.h"
#include "headlight/image/processor.h"

namespace headlight {

/// Reads the images of the training or validation set and resizes them with the processor. The sources are files,
/// folders, patterns and IDX files (see ListImages). The resized pixels of an image determine its set. Throws Error
/// naming the files that cannot be read or have more than `most_pixels` pixels. If `skipped` is given, such files are
/// skipped instead, and their errors are added to `skipped`. Throws Error if the set has no image.
std::vector<Image> ReadFittedImages(const std::vector<std::string>& sources, const ImageProcessor& processor,
                                    std::int64_t most_pixels, const TextShare& share = {},
                                    std::vector<std::string>* skipped = nullptr);

/// Maps images from ReadFittedImages to the processor's colors.
ColorImages InColors(const std::vector<Image>& fitted, const ImageProcessor& processor);

/// Loads the image processor of a model's folder. Throws Error unless it resizes to a fixed size and has a palette.
ImageProcessor LoadColorProcessor(const std::string& folder);

}  // namespace headlight
