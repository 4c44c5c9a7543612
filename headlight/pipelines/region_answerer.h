// Answers to questions about images, of which a model reads the regions that boxes hold, or the whole.
//   const RegionAnswerer answerer = RegionAnswerer::Load("model");
//   const Image image = ReadImage("street.jpg");
//   fmt::print("{}\n", answerer.Answer(image, boxes, "How many cars are there?").front().answer);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/box.h"
#include "headlight/image/image.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct ProbableAnswer {
  std::string answer;
  double probability = 0;  // among all answers
};

// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API RegionAnswerer {
 public:
  // A folder, with its tokenizer, of a ViLBERT, LXMERT or VisualBERT with a head for answers, trained on pixels of
  // regions, or of a ViLT with one and its preprocessor_config.json. Throws Error naming the file and what is wrong
  // with it or not supported.
  static RegionAnswerer Load(const std::string& folder, const LoadOptions& options = {});

  // True for a model that reads regions; false for a ViLT, which reads whole images.
  bool reads_boxes() const;
  // The `count` most probable answers, the best first. The boxes are those of what is in the image, in its pixels: a
  // ObjectDetector's, or any; those outside of it are left out. Throws Error for boxes where the model reads none, for
  // a question that is not UTF-8, empty or too long, and for an image without pixels.
  std::vector<ProbableAnswer> Answer(const Image& image, std::span<const Box> boxes, std::string_view question,
                                     std::size_t count = 1) const;

 private:
  struct State;
  explicit RegionAnswerer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
