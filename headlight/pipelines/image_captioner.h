// Image captioning: descriptions of images.
//   const ImageCaptioner captioner = ImageCaptioner::Load("vit-gpt2-image-captioning");
//   const std::string text = captioner.Caption(ReadImage("cat.jpg")).text;
//   auto best = captioner.Caption({ReadImage("cat.jpg")}, {.beam_size = 4, .n_best = 3});  // best[0][2].text
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

/// Generates captions of images. Immutable and cheap to copy. All methods are thread-safe. The captions of an image do
/// not depend on the other images of a call, except that the index of the image selects its random stream.
class HEADLIGHT_API ImageCaptioner {
 public:
  /// Loads the folder of a VisionEncoderDecoder or a BLIP with its tokenizer and preprocessor_config.json. Throws Error
  /// that names the file and the problem if a file is invalid or not supported.
  static ImageCaptioner Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the n_best captions of each image, the best first. Samples are in the order of sampling. Throws Error that
  /// names the image if it has no pixels or cannot be resized. Throws Error naming an invalid option.
  std::vector<std::vector<ImageCaption>> Caption(std::span<const Image> images,
                                                 const CaptionOptions& options = {}) const;
  std::vector<std::vector<ImageCaption>> Caption(std::initializer_list<Image> images,
                                                 const CaptionOptions& options = {}) const {
    return Caption(std::span(images.begin(), images.size()), options);
  }
  /// Returns the best caption of one image.
  ImageCaption Caption(const Image& image, const CaptionOptions& options = {}) const {
    return Caption(std::span(&image, 1), options).front().front();
  }

  /// Perform Caption in two steps, so that other threads can prepare the next images during the computation. Fit
  /// resizes an image for the model, and CaptionFitted writes the captions of such images.
  Image Fit(const Image& image) const;
  std::vector<std::vector<ImageCaption>> CaptionFitted(std::span<const Image> fitted,
                                                       const CaptionOptions& options = {}) const;

  /// Returns the attention of every head in every layer, or in one layer (from 0), for an image and a caption. Without
  /// a caption, the caption that the model generates is used. The decoder's steps are labeled by the tokens that they
  /// generate. Throws Error if the caption has no tokens, or more than the model's positions.
  AttentionRecord Attention(const Image& image, std::optional<std::string_view> caption = {},
                            const CaptionOptions& options = {}, std::optional<int> layer = {}) const;

  const CaptionModel& model() const;
  const PipelineTokenizer& tokenizer() const;

 private:
  explicit ImageCaptioner(std::shared_ptr<const CaptionFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const CaptionFolder> loaded_;
};

}  // namespace headlight
