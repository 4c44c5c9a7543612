#include "headlight/tasks/captioner.h"

#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/inspect/picture_attention.h"
#include "headlight/tasks/caption_folder.h"
#include "headlight/tasks/picture_folder.h"
#include "headlight/text/utf8.h"

namespace headlight {

Captioner Captioner::Load(const std::string& folder, const LoadOptions& options) {
  return Captioner(std::make_shared<CaptionFolder>(LoadCaptionFolder(folder, options, kWritesCaptions)));
}

std::vector<std::vector<Caption>> Captioner::Describe(std::span<const Picture> pictures,
                                                      const CaptionOptions& options) const {
  return DescribeFitted(FitPictures(loaded_->processor, pictures, options.name_of), options);
}

std::string Captioner::Describe(const Picture& picture, const CaptionOptions& options) const {
  return Describe({&picture, 1}, options).front().front().text;
}

Picture Captioner::Fit(const Picture& picture) const { return loaded_->processor.Fit(picture); }

std::vector<std::vector<Caption>> Captioner::DescribeFitted(std::span<const Picture> fitted,
                                                            const CaptionOptions& options) const {
  const DecodingOptions decoding = DecodingFor(*loaded_, options);
  std::vector<std::vector<Caption>> captions;
  ForEachBatchOfValues(
      loaded_->processor, fitted, options.batch_pixels, [&](std::span<const Tensor> values, std::size_t first) {
        Context context;
        const Memory memory = model().MemoryOf(context, model().EncodePictures(context, values));
        std::vector<std::size_t> which(values.size());
        std::iota(which.begin(), which.end(), first);
        for (std::vector<Caption>& of_picture : WriteCaptions(*loaded_, memory, decoding, options, which))
          captions.push_back(std::move(of_picture));
      });
  return captions;
}

AttentionRecord Captioner::Attention(const Picture& picture, std::optional<std::string_view> caption,
                                     const CaptionOptions& options, std::optional<int> layer) const {
  DecodingOptions decoding = DecodingFor(*loaded_, options);
  std::vector<std::int32_t> words;
  if (caption) {
    CheckUtf8(*caption, "the caption");
    words = tokenizer().Encode(*caption, {.add_special = false, .read_special = false}).ids;
    Check(!words.empty(), "the caption has no words");
  } else {
    decoding.sources = {{{}, options.first_stream << 32U}};
    const Tensor values = loaded_->processor.Values(Fit(picture));
    Context context;
    const Memory memory = model().MemoryOf(context, model().EncodePictures(context, {&values, 1}));
    words = Decode(model(), memory, decoding)[0][0].ids;
  }
  const ConditionalDecoder::Limits& limits = model().limits();
  Check(std::ssize(words) < limits.positions, "the caption has {} tokens, and the model reads at most {}", words.size(),
        limits.positions - 1);
  std::vector<std::int32_t> inputs = {limits.start_id};
  inputs.insert(inputs.end(), words.begin(), words.end());
  words.push_back(limits.end_id);
  return AttentionOf(model(), loaded_->processor, picture,
                     {.inputs = inputs,
                      .labels = tokenizer().Labels(words),
                      .special = {static_cast<int>(words.size()) - 1},  // the end
                      .layer = layer});
}

const CaptionModel& Captioner::model() const { return *loaded_->model; }
const PipelineTokenizer& Captioner::tokenizer() const { return loaded_->tokenizer; }

}  // namespace headlight
