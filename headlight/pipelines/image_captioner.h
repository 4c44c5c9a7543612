// Captions: what is in an image, in words.
//   const ImageCaptioner captioner = ImageCaptioner::Load("vit-gpt2-image-captioning");
//   std::string caption = captioner.Describe(ReadImage("cat.jpg"));
//   auto best = captioner.Describe({ReadImage("cat.jpg")}, {.beam_size = 4, .n_best = 3});  // best[0][2].text
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/image.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/pipelines/caption.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

class CaptionModel;       // kinds/caption_model.h
class PipelineTokenizer;  // text/tokenizers/pipeline_tokenizer.h
struct CaptionFolder;

// Immutable and cheap to copy; every method may be called from many threads at once. What is written about an image
// does not depend on the images beside it, but for the stream of random numbers, which is its place among them: none
// is padded.
class HEADLIGHT_API ImageCaptioner {
 public:
  // A folder of a VisionEncoderDecoder or a BLIP with its tokenizer and preprocessor_config.json. Throws Error naming
  // the file and what is wrong with it or not supported.
  static ImageCaptioner Load(const std::string& folder, const LoadOptions& options = {});

  // Of each image its n_best captions, the best first; sampled ones in the order in which they were drawn. Throws
  // Error naming the image where one has no pixels or cannot be resized, and for impossible options, naming them.
  std::vector<std::vector<Caption>> Describe(std::span<const Image> images, const CaptionOptions& options = {}) const;
  std::vector<std::vector<Caption>> Describe(std::initializer_list<Image> images,
                                             const CaptionOptions& options = {}) const {
    return Describe(std::span(images.begin(), images.size()), options);
  }
  // Of one image the best.
  std::string Describe(const Image& image, const CaptionOptions& options = {}) const;

  // Describe in two steps, of which the first can be done ahead while the second computes: the image as resized for
  // the model, and the captions of such images.
  Image Fit(const Image& image) const;
  std::vector<std::vector<Caption>> DescribeFitted(std::span<const Image> fitted,
                                                   const CaptionOptions& options = {}) const;

  // The attention of every head of every layer, or of one (from 0), for an image and a caption, or without one the
  // model's own. The decoder's steps are named by the words that they wrote. Throws Error where the caption has no
  // words or more tokens than the model has positions.
  AttentionRecord Attention(const Image& image, std::optional<std::string_view> caption = {},
                            const CaptionOptions& options = {}, std::optional<int> layer = {}) const;

  const CaptionModel& model() const;
  const PipelineTokenizer& tokenizer() const;

 private:
  explicit ImageCaptioner(std::shared_ptr<const CaptionFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const CaptionFolder> loaded_;
};

}  // namespace headlight
