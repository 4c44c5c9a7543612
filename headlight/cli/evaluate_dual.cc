#include "headlight/cli/evaluate_dual.h"

#include "headlight/base/error.h"
#include "headlight/cli/evaluate_report.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/progress.h"
#include "headlight/data/picture_texts.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/tasks/dual_folder.h"
#include "headlight/train/tasks/contrastive.h"

namespace headlight {

void EvaluateDualEncoder(const EvaluateOptions& options) {
  const DualFolder loaded = Loaded([&] { return LoadDualFolder(options.folder, options.load); });
  Check(loaded.texts && loaded.processor, "{}: a model of one tower compares no pairs", options.folder);
  const PictureTextSet pairs(
      ListPictureTexts(options.files, options.pictures),
      [](std::span<const std::byte> file, const std::string& name) { return DecodePicture(file, name, MostPixels()); });
  ValidationReport report;
  {
    Progress progress("pairs evaluated");
    report = ValidatePairs(*loaded.model, *loaded.processor, *loaded.texts, pairs,
                           {{}, [&](std::int64_t done, std::int64_t all) { progress.Show(done, all); }});
  }
  CheckLoss(*loaded.model, report.loss);
  const std::int64_t cut = CountCutTexts(*loaded.texts, pairs);
  WriteEvaluated({.task = "contrastive",
                  .report = report,
                  .units = "pairs",
                  .count = static_cast<std::size_t>(pairs.size()),
                  .labels = "pairs",
                  .lines = cut == 0 ? ""
                                    : fmt::format("{} of {} texts are longer than the {} tokens that the model reads: "
                                                  "their ends are left out\n",
                                                  cut, pairs.text_count(), loaded.texts->longest),
                  .members = {{"cut_texts", cut}}},
                 options.json);
}

}  // namespace headlight
