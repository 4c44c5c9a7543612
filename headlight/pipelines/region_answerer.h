// Visual question answering with a fixed set of answers. The input is the regions in boxes, or the whole image.
//   const RegionAnswerer answerer = RegionAnswerer::Load("model");
//   const Image image = ReadImage("scenes/test/0.png");
//   std::vector<Box> boxes;
//   for (const DetectedObject& found : ObjectDetector::Load("detr").Detect(image)) boxes.push_back(found.box);
//   fmt::print("{}\n", answerer.Answer(image, boxes, "How many shapes are there?").front().answer);
#pragma once

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
#include "headlight/pipelines/visual_question_answerer.h"

namespace headlight {

/// Answers questions about images. Immutable and cheap to copy. All methods are thread-safe.
class HEADLIGHT_API RegionAnswerer {
 public:
  /// Loads a model with an answer head, and its tokenizer. The model is a ViLBERT, LXMERT or VisualBERT trained on the
  /// pixels of regions, or a ViLT with its preprocessor_config.json. Throws Error that names the file and the problem
  /// if a file is invalid or not supported.
  static RegionAnswerer Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns true if the model requires regions, or false for a ViLT, which processes whole images.
  bool reads_boxes() const;
  /// Returns the `top_k` most probable answers, the best first. The scores of all answers sum to 1. The `boxes` of
  /// objects in the image are in pixels, such as DetectedObject::box. Boxes outside the image are ignored. Without
  /// boxes, the whole image is the only region. Throws Error if there are boxes and the model does not accept boxes,
  /// and if `top_k` is below 1. Throws Error if the question is not UTF-8, empty or too long, and if the image has no
  /// pixels.
  std::vector<VisualAnswer> Answer(const Image& image, std::span<const Box> boxes, std::string_view question,
                                   std::int64_t top_k = 1) const;

 private:
  struct State;
  explicit RegionAnswerer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
