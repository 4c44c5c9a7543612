#include "headlight/pipelines/image_captioner.h"

#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/inspect/image_attention.h"
#include "headlight/pipelines/caption_folder.h"
#include "headlight/pipelines/image_folder.h"
#include "headlight/pipelines/sample_stream.h"
#include "headlight/text/utf8.h"

namespace headlight {

ImageCaptioner ImageCaptioner::Load(const std::string& folder, const LoadOptions& options) {
  return ImageCaptioner(std::make_shared<CaptionFolder>(LoadCaptionFolder(folder, options, kWritesCaptions)));
}

std::vector<std::vector<ImageCaption>> ImageCaptioner::Caption(std::span<const Image> images,
                                                               const CaptionOptions& options) const {
  return CaptionFitted(FitImages(loaded_->processor, images, options.name_of), options);
}

Image ImageCaptioner::Fit(const Image& image) const { return loaded_->processor.Fit(image); }

std::vector<std::vector<ImageCaption>> ImageCaptioner::CaptionFitted(std::span<const Image> fitted,
                                                                     const CaptionOptions& options) const {
  const DecodingOptions decoding = DecodingFor(*loaded_, options);
  std::vector<std::vector<ImageCaption>> captions;
  ForEachBatchOfValues(
      loaded_->processor, fitted, options.batch_pixels, [&](std::span<const Tensor> values, std::size_t first) {
        Context context;
        const Memory memory = model().MemoryOf(context, model().EncodeImages(context, values));
        std::vector<std::size_t> which(values.size());
        std::iota(which.begin(), which.end(), first);
        for (std::vector<ImageCaption>& of_image : WriteCaptions(*loaded_, memory, decoding, options, which))
          captions.push_back(std::move(of_image));
      });
  return captions;
}

AttentionRecord ImageCaptioner::Attention(const Image& image, std::optional<std::string_view> caption,
                                          const CaptionOptions& options, std::optional<int> layer) const {
  DecodingOptions decoding = DecodingFor(*loaded_, options);
  std::vector<std::int32_t> words;
  if (caption) {
    CheckUtf8(*caption, "the caption");
    words = tokenizer().Encode(*caption, {.add_special = false, .read_special = false}).ids;
    Check(!words.empty(), "the caption has no words");
  } else {
    decoding.sources = {{{}, SampleStream(options.first_stream)}};
    const Tensor values = loaded_->processor.Values(Fit(image));
    Context context;
    const Memory memory = model().MemoryOf(context, model().EncodeImages(context, {&values, 1}));
    words = Decode(model(), memory, decoding)[0][0].ids;
  }
  const ConditionalDecoder::Limits& limits = model().limits();
  Check(std::ssize(words) < limits.positions, "the caption has {} tokens, and the model reads at most {}", words.size(),
        limits.positions - 1);
  std::vector<std::int32_t> inputs = {limits.start_id};
  inputs.insert(inputs.end(), words.begin(), words.end());
  words.push_back(limits.end_id);
  return AttentionOf(model(), loaded_->processor, image,
                     {.inputs = inputs,
                      .labels = tokenizer().Labels(words),
                      .special = {static_cast<int>(words.size()) - 1},  // the end token
                      .layer = layer});
}

const CaptionModel& ImageCaptioner::model() const { return *loaded_->model; }
const PipelineTokenizer& ImageCaptioner::tokenizer() const { return loaded_->tokenizer; }

}  // namespace headlight
