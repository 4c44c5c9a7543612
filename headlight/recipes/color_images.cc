#include "headlight/recipes/color_images.h"

#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/data/image_errors.h"
#include "headlight/data/images.h"
#include "headlight/image/colors.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/recipes/model_training.h"

namespace headlight {

std::vector<Image> ReadFittedImages(const std::vector<std::string>& sources, const ImageProcessor& processor,
                                    std::int64_t most_pixels, const TextShare& share,
                                    std::vector<std::string>* skipped) {
  const std::vector<ImageSource> listed = ListUnlabeledImages(sources);
  std::vector<Image> images(listed.size());
  std::vector<std::string> errors(listed.size());
  ParallelFor(std::ssize(listed), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    try {
      images[index] = processor.Fit(ReadImage(listed[index], most_pixels));
    } catch (const Error& error) {
      if (error.cause() != ErrorCause::user) throw;
      errors[index] = error.what();
    }
  });
  std::erase(errors, "");
  if (skipped == nullptr) ThrowImageErrors(errors);
  std::erase_if(images, [&](const Image& image) {
    return image.pixels.empty() ||
           !share.Has({reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()});
  });
  if (skipped != nullptr) *skipped = std::move(errors);
  CheckNotEmpty(images.size(), "images", sources, share);
  return images;
}

ColorImages InColors(const std::vector<Image>& fitted, const ImageProcessor& processor) {
  ColorImages images{.size = {fitted.front().height, fitted.front().width}};
  images.colors.reserve(fitted.size() * static_cast<std::size_t>(images.pixels()));
  NearestColors nearest(processor);
  for (const Image& image : fitted) nearest.Append(image, images.colors);
  return images;
}

ImageProcessor LoadColorProcessor(const std::string& folder) {
  ImageProcessor processor = LoadImageProcessor(folder);
  Check(!processor.clusters.empty() && processor.resize.kind == ResizeRule::Kind::exact && !processor.crop,
        "{}: the processor must resize images to one height and width, and have clusters of colors", folder);
  return processor;
}

}  // namespace headlight
