#include "headlight/base/error.h"
#include "headlight/data/image_texts.h"
#include "headlight/pipelines/dual_folder.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/train/objectives/contrastive.h"

namespace headlight {

EvaluationResult EvaluateDualEncoder(const Evaluation& options, const EvaluationObserver& observer) {
  const DualFolder loaded = Loaded(observer, [&] { return LoadDualFolder(options.folder, options.load); });
  Check(loaded.texts && loaded.processor, "{}: a model with one tower cannot compare pairs", options.folder);
  const ImageTextSet pairs(ListImageTexts(options.files, options.images), DecoderOf(options));
  const std::int64_t cut = CountCutTexts(*loaded.texts, pairs);
  Check(options.truncate || cut == 0,
        "{}: {} than the {} tokens that the model reads at once; `truncate` leaves out the end",
        fmt::join(options.files, ", "), cut == 1 ? "1 text is longer" : fmt::format("{} texts are longer", cut),
        loaded.texts->longest);
  const ValidationReport report =
      ValidatePairs(*loaded.model, *loaded.processor, *loaded.texts, pairs, Watch(observer, "pairs evaluated"));
  Show(observer, "");
  CheckLoss(*loaded.model, report.loss);
  return ResultOf({.task = "contrastive",
                   .report = report,
                   .units = "pairs",
                   .count = static_cast<std::size_t>(pairs.size()),
                   .labels = "pairs",
                   .lines = cut == 0 ? ""
                                     : fmt::format("{} of {} texts are longer than the {} tokens that the model reads: "
                                                   "their ends are left out\n",
                                                   cut, pairs.text_count(), loaded.texts->longest),
                   .members = {{"cut_texts", cut}}});
}

}  // namespace headlight
