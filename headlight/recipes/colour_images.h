// Images from files, as an ImageGPT reads them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/data/colour_images.h"
#include "headlight/data/text_share.h"
#include "headlight/image/image.h"
#include "headlight/image/processor.h"

namespace headlight {

/// The images of files, folders, patterns and IDX files (ListImages), each resized as the processor says; of the
/// share, to which an image belongs by its resized pixels. Throws Error naming the files that cannot be read or have
/// more pixels than `most_pixels`, and if there is no image in the share. With `skipped` such files are left out, each
/// with its error there.
std::vector<Image> ReadFittedImages(const std::vector<std::string>& sources, const ImageProcessor& processor,
                                    std::int64_t most_pixels, const TextShare& share = {},
                                    std::vector<std::string>* skipped = nullptr);

/// The images, all from ReadFittedImages, in the processor's colours.
ColourImages InColours(const std::vector<Image>& fitted, const ImageProcessor& processor);

/// For a model's folder: how it resizes, and its colours. Throws Error if it does not have both.
ImageProcessor LoadColourProcessor(const std::string& folder);

}  // namespace headlight
