// Images drawn from texts by a DALL-E or DALL-E mini: load a folder once, call it from any number of threads.
//   const TextToImage drawer = TextToImage::Load("shapes");
//   const std::string text = "a red circle left of a blue square";
//   std::vector<Drawing> drawings = drawer.Draw({&text, 1}, 8, {.temperature = 0.9, .seed = 7});
//   const Drawing& best = drawings[RankDrawings(ImageTextEmbedder::Load("clip"), text, drawings)[0].drawing];
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/pipelines/text_to_image_options.h"

namespace headlight {

class TextToImageModel;   // kinds/text_to_image_model.h
class ImageTextEmbedder;  // pipelines/image_text_embedder.h
class ImageCoder;         // kinds/image_coder.h
class PipelineTokenizer;  // text/tokenizers/pipeline_tokenizer.h

struct Drawing {
  Image image;
  std::vector<std::int32_t> codes;  // [rows, columns]
};

// Immutable and cheap to copy; every method may be called from many threads at once. A drawing does not depend on the
// others of the call.
class HEADLIGHT_API TextToImage {
 public:
  // A folder of a DALL-E with its tokenizer, and in its folder `vae` the discrete VAE. Throws Error naming the
  // file and what is wrong with it or not supported. Options other than `compute` are refused.
  static TextToImage Load(const std::string& folder, const LoadOptions& options = {});

  // Throws Error that begins with `name` for a text that is empty or longer than the model reads.
  void CheckText(const std::string& text, const std::string& name) const;

  // `count` drawings of each text; those of a text follow one another. Throws Error for a text that is empty or longer
  // than the model reads, and for impossible options, naming them.
  std::vector<Drawing> Draw(std::span<const std::string> texts, std::int64_t count,
                            const TextToImageOptions& options = {}) const;
  // Keeps the upper `rows` rows of codes of an image, after it was resized and its centre cut out, and draws the rest.
  // Half of the rows unless given. Throws Error for rows that leave nothing to draw, and likewise.
  std::vector<Drawing> Complete(std::span<const std::string> texts, const Image& begun,
                                std::optional<std::int64_t> rows, std::int64_t count,
                                const TextToImageOptions& options = {}) const;

  // The codes of an image, resized likewise, and the image of codes.
  std::vector<std::int32_t> Encode(const Image& image) const;
  Image Decode(std::span<const std::int32_t> codes) const;  // throws Error for codes that the model does not have

  std::int64_t side() const;  // of every image, in pixels
  std::int64_t rows() const;  // of codes

  // For those who look inside.
  const TextToImageModel& model() const;
  const PipelineTokenizer& tokenizer() const;

 private:
  struct State;
  explicit TextToImage(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::vector<Drawing> DrawFrom(std::span<const std::string> texts, std::span<const std::int32_t> begun,
                                std::int64_t count, const TextToImageOptions& options) const;

  std::shared_ptr<const State> state_;
};

// One of several drawings, by its place among them, and how well it fits their text.
struct RankedDrawing {
  std::size_t drawing = 0;
  float score = 0;  // the cosine of its vector and that of the text
};

// The order of the drawings of one text by a CLIP or SigLIP, the best first (Ramesh et al., "Zero-Shot Text-to-Image
// Generation", 2021, section 2.6); of equal scores the earlier one. Throws Error where `ranker` lacks a tower, and for
// a text that is longer than it reads.
HEADLIGHT_API std::vector<RankedDrawing> RankDrawings(const ImageTextEmbedder& ranker, const std::string& text,
                                                      std::span<const Drawing> drawings);

}  // namespace headlight
