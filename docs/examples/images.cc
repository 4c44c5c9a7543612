// Classifies images in your own program, from a file and from pixels in memory.
//   example_images MODEL FILE
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/pipelines/image_classifier.h"

namespace {

void Classify(const std::string& folder, const std::string& path) {
  using namespace headlight;
  const ImageClassifier classifier = ImageClassifier::Load(folder);
  const std::vector<std::uint8_t> red = {255, 0, 0, 255, 0, 0};  // red, green and blue of each pixel
  const Image pixels = {.height = 1, .width = 2, .pixels = red};
  for (const std::vector<LabelScore>& labels : classifier.Classify({ReadImage(path), pixels}, {.top_k = 3}))
    for (const LabelScore& one : labels) fmt::print("{} {:.3f}\n", one.label, one.score);  // in descending order
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print("usage: example_images MODEL FILE\n");
    return 0;
  }
  try {
    Classify(argv[1], argv[2]);
  } catch (const headlight::Error& error) {  // a missing file, a damaged image, ...
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
