#include "headlight/recipes/colour_images.h"

#include <string_view>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/data/pictures.h"
#include "headlight/image/colours.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/recipes/model_training.h"

namespace headlight {

std::vector<Picture> ReadFittedImages(const std::vector<std::string>& sources, const PictureProcessor& processor,
                                      std::int64_t most_pixels, const TextShare& share) {
  const std::vector<PictureSource> listed = ListUnlabelledPictures(sources);
  std::vector<Picture> pictures(listed.size());
  ParallelFor(std::ssize(listed), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    pictures[index] = processor.Fit(ReadPicture(listed[index], most_pixels));
  });
  std::erase_if(pictures, [&](const Picture& picture) {
    return !share.Has({reinterpret_cast<const char*>(picture.pixels.data()), picture.pixels.size()});
  });
  CheckNotEmpty(pictures.size(), "pictures", sources, share);
  return pictures;
}

ColourPictures InColours(const std::vector<Picture>& fitted, const PictureProcessor& processor) {
  ColourPictures pictures{.size = {fitted.front().height, fitted.front().width}};
  pictures.colours.reserve(fitted.size() * static_cast<std::size_t>(pictures.pixels()));
  NearestColours nearest(processor);
  for (const Picture& picture : fitted) nearest.Append(picture, pictures.colours);
  return pictures;
}

PictureProcessor LoadColourProcessor(const std::string& folder) {
  PictureProcessor processor = LoadPictureProcessor(folder);
  Check(!processor.clusters.empty() && processor.resize.kind == ResizeRule::Kind::exact && !processor.crop,
        "{}: the processor must resize pictures to one height and width, and have clusters of colours", folder);
  return processor;
}

}  // namespace headlight
