// Text-to-image generation with a DALL-E or DALL-E mini.
//   const TextToImage generator = TextToImage::Load("shapes");
//   const std::string text = "a red circle left of a blue square";
//   std::vector<GeneratedImage> images = generator.Generate(text, {.count = 8, .temperature = 0.9, .seed = 7});
//   const GeneratedImage& best = images[RankImages(ImageTextEmbedder::Load("clip"), text, images)[0].index];
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

struct GeneratedImage {
  Image image;
  std::vector<std::int32_t> codes;  ///< codes of the discrete VAE, [rows, columns]
};

/// Generates images from texts. Immutable and cheap to copy. All methods are thread-safe. An image does not depend on
/// the other images of a call, except that the index of the image selects its random stream.
class HEADLIGHT_API TextToImage {
 public:
  /// Loads the folder of a DALL-E or DALL-E mini with its tokenizer, and the discrete VAE in its folder `vae`. Throws
  /// Error that names the file and the problem if a file is invalid or not supported. Throws Error for options other
  /// than `compute`.
  static TextToImage Load(const std::string& folder, const LoadOptions& options = {});

  /// Throws Error, with a message that begins with `name`, if the text is empty, is not UTF-8, or has more tokens than
  /// the model accepts.
  void CheckText(const std::string& text, const std::string& name) const;

  /// Generates options.count images of each text, in the order of sampling. Throws the same errors as CheckText, and
  /// Error naming an invalid option.
  std::vector<std::vector<GeneratedImage>> Generate(std::span<const std::string> texts,
                                                    const TextToImageOptions& options = {}) const;
  std::vector<std::vector<GeneratedImage>> Generate(std::initializer_list<std::string> texts,
                                                    const TextToImageOptions& options = {}) const {
    return Generate(std::span(texts.begin(), texts.size()), options);
  }
  /// Generates options.count images of one text.
  std::vector<GeneratedImage> Generate(std::string_view text, const TextToImageOptions& options = {}) const {
    return Generate({std::string(text)}, options).front();
  }
  /// Generates images like Generate, but keeps the upper `rows` rows of the codes of `begun`, by default half of the
  /// rows. `begun` is resized and cropped to a square. Also throws Error if no row is left to generate.
  std::vector<std::vector<GeneratedImage>> Complete(std::span<const std::string> texts, const Image& begun,
                                                    std::optional<std::int64_t> rows = {},
                                                    const TextToImageOptions& options = {}) const;

  /// Resizes and crops an image to a square, and returns its codes, [rows, columns].
  std::vector<std::int32_t> Encode(const Image& image) const;
  /// Decodes an image from its codes. Throws Error for a wrong number of codes, and for codes that the model does not
  /// have.
  Image Decode(std::span<const std::int32_t> codes) const;

  std::int64_t side() const;  ///< height and width of every image, in pixels
  std::int64_t rows() const;  ///< rows of codes of an image

  /// Return the model and the tokenizer, for inspection.
  const TextToImageModel& model() const;
  const PipelineTokenizer& tokenizer() const;

 private:
  struct State;
  explicit TextToImage(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::vector<std::vector<GeneratedImage>> GenerateFrom(std::span<const std::string> texts,
                                                        std::span<const std::int32_t> begun,
                                                        const TextToImageOptions& options) const;

  std::shared_ptr<const State> state_;
};

/// The index of an image, and its similarity to the text.
struct RankedImage {
  std::size_t index = 0;  ///< among the images of the text
  float score = 0;        ///< the cosine similarity of the image and the text
};

/// Sorts the images of one text by their CLIP or SigLIP similarity to the text, the best first (Ramesh et al.,
/// "Zero-Shot Text-to-Image Generation", 2021, section 2.6). Images with the same score keep their order. Throws Error
/// if `ranker` lacks a tower, and if the text has more tokens than `ranker` accepts.
HEADLIGHT_API std::vector<RankedImage> RankImages(const ImageTextEmbedder& ranker, const std::string& text,
                                                  std::span<const GeneratedImage> images);

}  // namespace headlight
