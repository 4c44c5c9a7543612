#include "headlight/train/objectives/language_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headlight/ops/arithmetic.h"
#include "headlight/ops/routing.h"

namespace headlight {

TrainingTask LanguageModelTask(LanguageModel& model, const TextSets& texts, std::int64_t valid_bytes,
                               const TeacherForcingOptions& options) {
  CheckTeacherForcing(options);
  const LanguageModel::Limits limits = model.limits();
  const std::int32_t begin = limits.begin_id >= 0 ? limits.begin_id : limits.end_id;
  const bool begins = begin >= 0, ends = limits.end_id >= 0;
  for (const auto& [set, purpose] : {std::pair(&texts.train, "train on"), std::pair(&texts.valid, "validate on")})
    CheckTexts(*set, purpose, begins ? 1 : 2, limits.positions - (begins ? 1 : 0));
  const AppendText append = [=](const TextExample& text, Random&, TokenBatch& batch) {
    std::vector<std::int32_t> inputs = text.ids, labels = text.ids;
    if (begins)
      inputs.insert(inputs.begin(), begin);
    else
      labels.erase(labels.begin());
    if (ends)
      labels.push_back(limits.end_id);
    else
      inputs.pop_back();
    batch.target_inputs.insert(batch.target_inputs.end(), inputs.begin(), inputs.end());
    AppendRows(batch.labels, batch.target, labels);
  };
  const auto loss = [&model](Context& context, const TokenBatch& batch, double smoothing, double scale, double r_drop) {
    const Tensor hidden = model.Decode(context, batch.target_inputs, batch.target);
    return OutputLoss(hidden, model.OutputWeight(context), model.OutputBias(context), batch.labels, smoothing, scale,
                      batch.twice ? r_drop : 0, model.logit_cap());
  };
  const auto training_loss = [&model, loss, smoothing = options.label_smoothing, r_drop = options.r_drop](
                                 Context& context, const TrainingPart& part, double scale) {
    const auto& batch = part.As<TokenBatch>();
    if (model.router_loss_factor() == 0) return loss(context, batch, smoothing, scale, r_drop);
    std::vector<ops::Routing> layers;
    context.hooks.routing = [&layers](const ops::Routing& layer) { layers.push_back(layer); };
    const Tensor predicted = loss(context, batch, smoothing, scale, r_drop);
    context.hooks.routing = {};
    if (layers.empty()) return predicted;
    // The load balancing loss is multiplied by the number of labels in the part, because a step's loss is the mean over
    // labels.
    const auto labels = std::ranges::count_if(batch.labels, [](std::int32_t label) { return label >= 0; });
    return ops::Add(predicted, ops::Scale(ops::LoadBalancingLoss(layers),
                                          model.router_loss_factor() * scale * static_cast<double>(labels)));
  };
  const auto validate = [loss, valid_bytes, valid = ExamplesOf(texts.valid, append)](const PassWatch& watch) {
    const auto [sum, labels] = LossOfBatches(
        valid, watch, [&](Context& context, const TokenBatch& batch) { return loss(context, batch, 0, 1, 0); });
    ValidationReport report = LossReport(sum, labels);
    if (valid_bytes > 0)
      report.more_scores = {{"bits_per_byte", sum / std::log(2.0) / static_cast<double>(valid_bytes)}};
    return report;
  };
  return {.model = &model,
          .batches = BatchesOf(ExamplesOf(texts.train, append), options),
          .loss = training_loss,
          .validate = validate,
          .scores = valid_bytes > 0 ? std::vector<std::string>{"bits_per_byte"} : std::vector<std::string>{}};
}

}  // namespace headlight
