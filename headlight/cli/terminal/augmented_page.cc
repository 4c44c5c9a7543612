#include "headlight/cli/terminal/augmented_page.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/cli/terminal/html.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/text/html.h"

namespace headlight {
namespace {

// Converts normalized values of shape [height, width, 3] back to an image.
Image ImageOf(const Tensor& values, const ImageProcessor& processor) {
  Image image{.height = values.shape()[0], .width = values.shape()[1]};
  for (const float value : values.span<float>()) {
    const std::size_t channel = image.pixels.size() % 3;
    const double byte =
        static_cast<double>(value * processor.deviation[channel] + processor.mean[channel]) / processor.scale;
    image.pixels.push_back(static_cast<std::uint8_t>(std::clamp(std::nearbyint(byte), 0.0, 255.0)));
  }
  return image;
}

// Returns the name of the class, or the two classes with the largest weights in a mixed image, such as "cat 0.7, dog
// 0.3".
std::string ClassesOf(const float* targets, const std::vector<std::string>& labels) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return targets[a] > targets[b]; });
  if (order.size() == 1 || targets[order[1]] < 0.05F) return labels[order[0]];
  return fmt::format("{} {:.1f}, {} {:.1f}", labels[order[0]], targets[order[0]], labels[order[1]], targets[order[1]]);
}

constexpr std::int64_t kMostImages = 96;

// Returns a figure with the image and its caption. `over` is HTML that is drawn over the image.
std::string Figure(const Tensor& values, const ImageProcessor& processor, const std::string& over,
                   const std::string& caption) {
  return fmt::format("<figure><div><img src=\"{}\" alt=\"\">{}</div><figcaption>{}</figcaption></figure>\n",
                     ImageSourceHtml(ImageOf(values, processor)), over, caption);
}

constexpr const char* kFirstBatch = "Images of the first batch, as the model sees them";

}  // namespace

void AddShowAugmented(OptionTable& command, std::string& path, const char* group) {
  command
      .AddFile("--show-augmented", path, "Write a page of images as the model sees them, before the training starts",
               "FILE.html")
      .Group(group);
}

void CheckAugmentedPage(const std::string& path, const std::vector<std::string>& inputs) {
  if (path.empty()) return;
  Check(path.ends_with(".html"), "--show-augmented {}: a page's name must end in .html", path);
  CheckOutputs({{"--show-augmented", path}}, inputs);
  CheckWritable(path);
}

std::string AugmentedPage(const ImageBatch& batch, const ImageProcessor& processor,
                          const std::vector<std::string>& labels) {
  std::string figures;
  const Shape& shape = batch.values.shape();
  for (std::int64_t i = 0; i < std::min(kMostImages, shape[0]); ++i)
    figures += Figure(batch.values.ViewRows(i, 1).ViewAs({shape[1], shape[2], shape[3]}), processor, "",
                      EscapeHtml(ClassesOf(batch.targets.matrix<float>().row(i), labels)));
  return GalleryPage(kFirstBatch, "", figures);
}

std::string AugmentedPage(const DetectionPart& batch, const ImageProcessor& processor,
                          const std::vector<std::string>& labels) {
  std::string figures;
  for (std::size_t i = 0; i < std::min<std::size_t>(kMostImages, batch.images.size()); ++i) {
    const auto& [classes, boxes] = batch.objects[i];
    std::string over;
    for (std::size_t object = 0; object < boxes.size(); ++object) {
      const auto& [x, y, width, height] = boxes[object];
      over += fmt::format("<i style=\"left:{:.2f}%;top:{:.2f}%;width:{:.2f}%;height:{:.2f}%\">{}</i>",
                          100 * (x - width / 2), 100 * (y - height / 2), 100 * width, 100 * height,
                          EscapeHtml(labels[static_cast<std::size_t>(classes[object])]));
    }
    figures += Figure(batch.images[i], processor, over, "");
  }
  return GalleryPage(kFirstBatch, "", figures);
}

std::string AugmentedPage(const DistilledImages& images, const std::function<std::string(std::int64_t)>& name_of,
                          const ImageProcessor& processor) {
  std::string figures;
  std::int64_t shown = 0;
  for (std::int64_t image = 0; image < images.count && shown < kMostImages; ++image)
    for (const Tensor& crop : images.crops(image, /*epoch=*/0)) {
      figures += Figure(crop, processor, "", EscapeHtml(name_of(image)));
      ++shown;
    }
  return GalleryPage("Crops of the first images, as student and teacher see them", "", figures);
}

}  // namespace headlight
