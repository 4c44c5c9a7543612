#include "headlight/generate/next_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/generate/choose_words.h"
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
  if (words_ != nullptr && (shortlist_ == nullptr || searches.back()->id <= newest_)) return;
  newest_ = searches.back()->id;
  std::vector<std::vector<std::int32_t>> lists;
  for (const auto& search : searches) {
    if (shortlist_ == nullptr) break;
    search->list = lists.size();
    std::vector<std::int32_t>& list = lists.emplace_back(shortlist_->For(search->request.source));
    std::erase(list, output_.pad_id);
    const auto end = std::ranges::lower_bound(list, output_.end_id);
    if (end == list.end() || *end != output_.end_id) list.insert(end, output_.end_id);
  }
  words_ = std::make_unique<OutputWords>(output_, context, lists);
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
  Tensor states = rows == all ? hidden : ops::Embedding(hidden, rows);
  if (options.guidance != 1)  // the logits are linear in the state: they have no cap
    states = ops::Add(ops::Scale(states, options.guidance),
                      ops::Scale(ops::Embedding(hidden, unguided), 1 - options.guidance));

  const std::span<const std::int32_t> ends =
      first.MayEnd() ? std::span<const std::int32_t>() : std::span(options.end_ids);
  if (first.ChangesScores()) {
    std::vector<std::int32_t> never(ends.begin(), ends.end());
    if (output_.pad_id >= 0) never.push_back(output_.pad_id);
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
                         .random = &one.search->random});
      }
    return words_->Choose(context, states, lists, texts, options, length, CandidatesOf(options));
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
  kernels::TopLogits<float> likeliest =
      words_->Likeliest(context, states, lists, ends, CandidatesOf(options) + static_cast<std::int64_t>(most_banned));
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
  return words_->Likeliest(context, hidden, std::vector(static_cast<std::size_t>(hidden.rows()), search.list),
                           search.MayEnd() ? std::span<const std::int32_t>() : search.options().end_ids,
                           CandidatesOf(search.options()));
}

}  // namespace headlight
