#include <memory>
#include <string>

#include "headlight/base/error.h"
#include "headlight/data/image_texts.h"
#include "headlight/pipelines/image_captioner.h"
#include "headlight/pipelines/image_folder.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/train/objectives/captions.h"

namespace headlight {

EvaluationResult EvaluateCaptionModel(const Evaluation& options, const EvaluationObserver& observer) {
  const ImageCaptioner captioner = Loaded(observer, [&] { return ImageCaptioner::Load(options.folder, options.load); });
  const CaptionModel& model = captioner.model();
  const PipelineTokenizer& tokenizer = captioner.tokenizer();
  const ImageTextSet images(ListImageTexts(options.files, options.images), DecoderOf(options));
  const TokenizedCaptions captions = TokenizeCaptions(model, images, [&](const std::string& text) {
    return tokenizer.Encode(text, {.add_special = false, .read_special = false}).ids;
  });
  const ValidationReport report = ValidateCaptions(
      model, LoadImageProcessor(options.folder), captions,
      [&](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); }, -1,
      Watch(observer, "images described"));
  CheckLoss(model, report.loss);
  return ResultOf({.task = "captions",
                   .report = report,
                   .units = "images",
                   .count = static_cast<std::size_t>(images.size()),
                   .labels = "tokens",
                   .members = {{"captions", captions.examples.size()}}});
}

}  // namespace headlight
