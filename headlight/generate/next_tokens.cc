#include "headlight/generate/next_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/generate/choose_tokens.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"

namespace headlight {

OutputLayer OutputOf(const LanguageModel& model) {
  Check(model.outputs() > 0, "{}: this model has no head that predicts the next token", model.parameters().source());
  return {.model = &model,
          .weight = [&model](Context& context) { return model.OutputWeight(context); },
          .bias = [&model](Context& context) { return model.OutputBias(context); },
          .vocabulary = model.outputs(),
          .logit_cap = model.logit_cap()};
}

OutputLayer OutputOf(const ConditionalDecoder& model) {
  return {.model = &model,
          .weight = [&model](Context& context) { return model.OutputWeight(context); },
          .bias = [&model](Context& context) { return model.OutputBias(context); },
          .vocabulary = model.limits().target_vocabulary,
          .pad_id = model.limits().pad_id,
          .end_id = model.limits().end_id};
}

void NextTokens::UpdateLists(Context& context, const std::vector<std::unique_ptr<Search>>& searches) {
  if (tokens_ != nullptr && (shortlist_ == nullptr || searches.back()->id <= newest_)) return;
  newest_ = searches.back()->id;
  std::vector<std::vector<std::int32_t>> lists;
  for (const auto& search : searches) {
    if (shortlist_ == nullptr) break;
    search->list = lists.size();
    std::vector<std::int32_t>& list = lists.emplace_back(shortlist_->For(search->request.source));
    if (!search->options().generates_padding) std::erase(list, output_.pad_id);
    const auto end = std::ranges::lower_bound(list, output_.end_id);
    if (end == list.end() || *end != output_.end_id) list.insert(end, output_.end_id);
  }
  tokens_ = std::make_unique<OutputTokens>(output_, context, lists);
}

std::vector<std::int32_t> NextTokens::NeverNext(const Search& search) const {
  std::vector<std::int32_t> never;
  if (!search.MayEnd()) never = search.options().end_ids;
  if (output_.pad_id >= 0 && !search.options().generates_padding) never.push_back(output_.pad_id);
  return never;
}

std::vector<float> NextTokens::ShiftsOf(Context& context, const Tensor& conditional, const Tensor& unconditional,
                                        std::span<const std::size_t> lists, double guidance,
                                        std::int32_t length) const {
  const kernels::TopLogits<float> with = tokens_->MostLikely(context, conditional, lists, {}, 1);
  const kernels::TopLogits<float> without = tokens_->MostLikely(context, unconditional, lists, {}, 1);
  CheckSums(*output_.model, with, length);
  CheckSums(*output_.model, without, length);
  std::vector<float> shifts;
  for (std::size_t row = 0; row < with.sum.size(); ++row)
    shifts.push_back(static_cast<float>(guidance * (with.max[row] + std::log(with.sum[row])) +
                                        (1 - guidance) * (without.max[row] + std::log(without.sum[row]))));
  return shifts;
}

kernels::TopLogits<float> NextTokens::After(Context& context, const std::vector<Ready>& group, const Tensor& hidden,
                                            std::vector<std::vector<std::int32_t>>& banned) const {
  const Search& first = *group.front().search;
  const SearchOptions& options = first.options();
  std::vector<std::int32_t> rows, unguided, all(static_cast<std::size_t>(hidden.rows()));
  std::vector<std::size_t> lists;
  std::int32_t length = 0;
  for (const Ready& one : group) {
    rows.insert(rows.end(), one.rows.begin(), one.rows.end());
    unguided.insert(unguided.end(), one.unguided.begin(), one.unguided.end());
    lists.insert(lists.end(), one.rows.size(), one.search->list);
    length = std::max(length, one.search->length);
  }
  std::iota(all.begin(), all.end(), 0);
  const bool guided = options.guidance != 1;
  const Tensor conditional = rows == all ? hidden : ops::Embedding(hidden, rows);
  const Tensor unconditional = guided ? ops::Embedding(hidden, unguided) : Tensor();
  Tensor states = conditional;
  if (guided)  // logits are linear in the state, because models with guidance have no logit cap
    states = ops::Add(ops::Scale(conditional, options.guidance), ops::Scale(unconditional, 1 - options.guidance));

  const std::vector<std::int32_t> never = NeverNext(first);
  if (first.ChangesScores()) {
    const std::vector<float> shifts =
        guided && (GuidesBeams(options) || DependsOnShift(options.processors))
            ? ShiftsOf(context, conditional, unconditional, lists, options.guidance, length)
            : std::vector<float>(rows.size(), 0);
    std::vector<Unfinished> texts;
    for (const Ready& one : group)
      for (const Beam& beam : one.search->beams) {
        const DecodingRequest& request = one.search->request;
        const std::int64_t given = std::ssize(request.prompt);
        texts.push_back({.prompt = request.prompt,
                         .ids = beam.ids,
                         .never = never,
                         .ends = options.end_ids,
                         .source = request.source.empty() ? request.prompt : request.source,
                         .given = given,
                         .begin = given + (options.first_token ? 1 : 0),
                         .shift = shifts[texts.size()],
                         .random = &one.search->random});
      }
    return tokens_->Choose(context, states, lists, texts, options, length, CandidatesOf(options));
  }
  std::size_t most_banned = 0;
  if (const std::int32_t no_repeat = options.processors.no_repeat_ngram_size; no_repeat > 0)
    for (const Ready& one : group)
      for (const Beam& beam : one.search->beams) {
        std::vector<std::int32_t> inputs = one.search->request.prompt;
        inputs.insert(inputs.end(), beam.ids.begin(), beam.ids.end());
        banned.push_back(Repeating(inputs, inputs, no_repeat));
        most_banned = std::max(most_banned, banned.back().size());
      }
  kernels::TopLogits<float> likeliest = tokens_->MostLikely(
      context, states, lists, never, CandidatesOf(options) + static_cast<std::int64_t>(most_banned));
  for (std::int64_t row = 0; row < likeliest.rows; ++row) CheckFinite(likeliest, row, length);
  return likeliest;
}

void NextTokens::CheckFinite(const kernels::TopLogits<float>& likeliest, std::int64_t row, std::int32_t length) const {
  const auto values = std::span(likeliest.values).subspan(static_cast<std::size_t>(row * likeliest.k));
  if (std::ranges::any_of(values.first(static_cast<std::size_t>(likeliest.k)),
                          [](float value) { return std::isnan(value); }))
    output_.model->parameters().FailNotFinite(fmt::format("decoding step {}", length));
}

kernels::TopLogits<float> NextTokens::AfterDrafts(Context& context, const Search& search, const Tensor& hidden) const {
  return tokens_->MostLikely(context, hidden, std::vector(static_cast<std::size_t>(hidden.rows()), search.list),
                             NeverNext(search), CandidatesOf(search.options()));
}

}  // namespace headlight
