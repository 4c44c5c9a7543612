#include "headlight/cli/evaluate_captions.h"

#include <memory>
#include <string>

#include "headlight/base/error.h"
#include "headlight/cli/evaluate_report.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/progress.h"
#include "headlight/data/picture_texts.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/tasks/captioner.h"
#include "headlight/tasks/picture_folder.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/train/tasks/captions.h"

namespace headlight {

void EvaluateCaptionModel(const EvaluateOptions& options) {
  const Captioner captioner = Loaded([&] { return Captioner::Load(options.folder, options.load); });
  const CaptionModel& model = captioner.model();
  const PipelineTokenizer& tokenizer = captioner.tokenizer();
  const PictureTextSet pictures(
      ListPictureTexts(options.files, options.pictures),
      [](std::span<const std::byte> file, const std::string& name) { return DecodePicture(file, name, MostPixels()); });
  const TokenizedCaptions captions = TokenizeCaptions(model, pictures, [&](const std::string& text) {
    return tokenizer.Encode(text, {.add_special = false, .read_special = false}).ids;
  });
  ValidationReport report;
  {
    Progress progress("pictures described");
    report = ValidateCaptions(model, LoadPictureProcessor(options.folder), captions,
                              [&](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); }, -1,
                              {{}, [&](std::int64_t done, std::int64_t all) { progress.Show(done, all); }});
  }
  CheckLoss(model, report.loss);
  WriteEvaluated({.task = "captions",
                  .report = report,
                  .units = "pictures",
                  .count = static_cast<std::size_t>(pictures.size()),
                  .labels = "tokens",
                  .members = {{"captions", captions.examples.size()}}},
                 options.json);
}

}  // namespace headlight
