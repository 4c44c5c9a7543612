#include "headlight/cli/augmented_page.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/text/tokenizers/base64.h"

namespace headlight {
namespace {

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return escaped;
}

// The bytes of which PictureProcessor::Values made these.
Picture PictureOf(const Tensor& values, const PictureProcessor& processor) {
  Picture picture{.height = values.shape()[1], .width = values.shape()[2]};
  for (const float value : values.span<float>()) {
    const std::size_t channel = picture.pixels.size() % 3;
    const double byte =
        static_cast<double>(value * processor.deviation[channel] + processor.mean[channel]) / processor.scale;
    picture.pixels.push_back(static_cast<std::uint8_t>(std::clamp(std::nearbyint(byte), 0.0, 255.0)));
  }
  return picture;
}

// "cat", or the two classes that have most of a mixed picture: "cat 0.7, dog 0.3".
std::string ClassesOf(const float* targets, const std::vector<std::string>& labels) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return targets[a] > targets[b]; });
  if (order.size() == 1 || targets[order[1]] < 0.05F) return labels[order[0]];
  return fmt::format("{} {:.1f}, {} {:.1f}", labels[order[0]], targets[order[0]], labels[order[1]], targets[order[1]]);
}

}  // namespace

std::string AugmentedPage(const PictureBatch& batch, const PictureProcessor& processor,
                          const std::vector<std::string>& labels) {
  constexpr std::int64_t most = 96;
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Pictures of the training</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<style>:root{color-scheme:light dark}body{font:14px sans-serif;display:flex;flex-wrap:wrap;gap:12px}"
      "figure{margin:0;width:128px}img{width:100%;image-rendering:pixelated}h1{width:100%;font-size:18px}</style>\n"
      "<h1>Pictures of the first batch, as the model sees them</h1>\n";
  for (std::int64_t i = 0; i < std::min(most, batch.values.shape()[0]); ++i) {
    const std::string png = EncodePng(PictureOf(batch.values.ViewRows(i, 1), processor));
    const std::string classes = Escaped(ClassesOf(batch.targets.matrix<float>().row(i), labels));
    page += fmt::format("<figure><img src=\"data:image/png;base64,{}\" alt=\"\"><figcaption>{}</figcaption></figure>\n",
                        EncodeBase64(png), classes);
  }
  return page + "</html>\n";
}

}  // namespace headlight
