// Pictures from files, as an ImageGPT reads them.
#pragma once

#include <string>
#include <vector>

#include "headlight/data/colour_pictures.h"
#include "headlight/data/text_share.h"
#include "headlight/image/picture.h"
#include "headlight/image/processor.h"

namespace headlight {

// The pictures of files, folders, patterns and IDX files (ListPictures), each resized as the processor says; of the
// share, to which a picture belongs by its resized pixels. Throws Error naming a file that cannot be read, and where
// there is no picture in the share.
std::vector<Picture> ReadFittedPictures(const std::vector<std::string>& sources, const PictureProcessor& processor,
                                        const TextShare& share = {});

// The pictures, all from ReadFittedPictures, in the processor's colours.
ColourPictures InColours(const std::vector<Picture>& fitted, const PictureProcessor& processor);

// For a model's folder: how it resizes, and its colours. Throws Error where it does not have both.
PictureProcessor LoadColourProcessor(const std::string& folder);

}  // namespace headlight
