#include "headlight/train/objectives/translation.h"

#include <algorithm>
#include <cmath>

#include "headlight/text/metrics/bleu.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {
namespace {

ValidationReport Validate(const EncoderDecoder& model, const TranslationValidation& validation,
                          const PassWatch& watch) {
  const ReferenceLoss loss = LossOfPairs(model, validation.sources, validation.targets, watch);
  ValidationReport report = LossReport(loss.sum, loss.tokens);
  if (!std::isfinite(report.loss)) return report;  // decoding needs finite logits
  std::vector<std::vector<std::int32_t>> sources = validation.sources;
  for (auto& source : sources) source.push_back(model.limits().end_id);
  std::size_t longest = 0;
  for (const auto& target : validation.targets) longest = std::max(longest, target.size() + 1);
  std::vector<std::string> translations;
  for (const auto& ids : GreedyTargets(model, sources, longest, watch)) translations.push_back(validation.decode(ids));
  report.score_name = "bleu";
  const std::vector<std::vector<std::string>> references = {validation.references};
  report.score = CorpusBleu(translations, references).score;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, translations.size()); ++i)
    report.samples.push_back({validation.source_texts[i], validation.references[i], translations[i]});
  return report;
}

}  // namespace

TrainingTask TranslationTask(EncoderDecoder& model, const Corpus& corpus, const PairOptions& pairs,
                             const TranslationValidation& validation, const TeacherForcingOptions& options) {
  TrainingTask task =
      TeacherForcingTask(model, PairsOf(corpus, pairs), options,
                         [&model, &validation](const PassWatch& watch) { return Validate(model, validation, watch); });
  task.scores = {"bleu"};
  return task;
}

}  // namespace headlight
