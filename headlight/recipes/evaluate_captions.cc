#include <memory>
#include <string>

#include "headlight/base/error.h"
#include "headlight/data/picture_texts.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/tasks/captioner.h"
#include "headlight/tasks/picture_folder.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/train/tasks/captions.h"

namespace headlight {

EvaluationResult EvaluateCaptionModel(const Evaluation& options, const EvaluationObserver& observer) {
  const Captioner captioner = Loaded(observer, [&] { return Captioner::Load(options.folder, options.load); });
  const CaptionModel& model = captioner.model();
  const PipelineTokenizer& tokenizer = captioner.tokenizer();
  const PictureTextSet pictures(ListPictureTexts(options.files, options.pictures), DecoderOf(options));
  const TokenizedCaptions captions = TokenizeCaptions(model, pictures, [&](const std::string& text) {
    return tokenizer.Encode(text, {.add_special = false, .read_special = false}).ids;
  });
  const ValidationReport report = ValidateCaptions(
      model, LoadPictureProcessor(options.folder), captions,
      [&](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); }, -1,
      Watch(observer, "pictures described"));
  CheckLoss(model, report.loss);
  return ResultOf({.task = "captions",
                   .report = report,
                   .units = "pictures",
                   .count = static_cast<std::size_t>(pictures.size()),
                   .labels = "tokens",
                   .members = {{"captions", captions.examples.size()}}});
}

}  // namespace headlight
