#include "headlight/generate/generate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "headlight/generate/choose_words.h"
#include "headlight/generate/decoding_batch.h"
#include "headlight/kernels/top_k.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

void CheckOptions(const LanguageModel& model, const std::vector<std::vector<std::int32_t>>& prompts,
                  const GenerationOptions& options) {
  Check(options.batch_tokens >= 1, "a batch needs room for at least one token, not {}", options.batch_tokens);
  Check(options.max_new_tokens >= 1, "`max_new_tokens` must be at least 1, not {}", options.max_new_tokens);
  Check(options.min_new_tokens >= 0 && options.min_new_tokens <= options.max_new_tokens,
        "`min_new_tokens` must be from 0 to `max_new_tokens`, {}, not {}", options.max_new_tokens,
        options.min_new_tokens);
  Check(options.max_length >= 0, "`max_length` must be at least 0, not {}", options.max_length);
  const std::int64_t positions = model.limits().positions;
  Check(options.search.guidance == 1 || std::ssize(options.unguided) <= positions,
        "guidance {} needs an unguided prompt of at most {} tokens, which has {}", options.search.guidance, positions,
        options.unguided.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Check(options.max_length == 0 || std::ssize(prompts[i]) < options.max_length,
          "prompt {} has {} tokens, which leaves no room in a `max_length` of {}", i + 1, prompts[i].size(),
          options.max_length);
    Check(!prompts[i].empty() && std::ssize(prompts[i]) <= positions,
          "a prompt must have from 1 to {} tokens; prompt {} has {}", positions, i + 1, prompts[i].size());
  }
}

DecodingRequest RequestFor(const std::vector<std::int32_t>& prompt, std::size_t index, const GenerationOptions& options,
                           const std::shared_ptr<const SearchOptions>& search) {
  DecodingRequest request{.prompt = prompt, .unguided = options.unguided, .options = search};
  const auto length = static_cast<std::int32_t>(prompt.size());
  request.max_new_tokens = options.max_new_tokens;
  if (options.max_length > 0) request.max_new_tokens = std::min(request.max_new_tokens, options.max_length - length);
  request.min_new_tokens = std::max({options.min_new_tokens, options.min_length - length, 0});
  request.seed = options.seed;
  request.stream = options.first_stream + index;
  if (options.on_token) request.on_token = [&options, index](std::int32_t id) { return options.on_token(index, id); };
  return request;
}

}  // namespace

std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model,
                                              const std::vector<std::vector<std::int32_t>>& prompts,
                                              const GenerationOptions& options) {
  DecodingBatch batch(model);
  CheckOptions(model, prompts, options);
  CheckSearch(options.search, model.outputs());
  const auto forced = std::make_shared<const SearchOptions>(options.search);
  auto search = forced;
  if (forced->first_token) {
    SearchOptions without = options.search;
    without.first_token.reset();
    search = std::make_shared<const SearchOptions>(std::move(without));
  }
  // The longest first, so that what needs most memory comes first.
  std::vector<std::size_t> order(prompts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return prompts[i].size(); });

  std::vector<std::vector<Hypothesis>> results(prompts.size());
  std::map<std::int64_t, std::size_t> running;  // the prompt of each text
  std::int64_t tokens = 0;                      // of their prompts
  for (auto next = order.begin(); next != order.end() || !batch.empty();) {
    for (; next != order.end(); ++next) {
      const std::int64_t more = std::ssize(prompts[*next]);
      if (!running.empty() && tokens + more > options.batch_tokens) break;
      running[batch.Add(RequestFor(prompts[*next], *next, options, more == 1 ? forced : search))] = *next;
      tokens += more;
    }
    if (options.cancelled && options.cancelled()) throw Cancelled();
    for (Decoded& text : batch.Step()) {
      if (text.error != nullptr) std::rethrow_exception(text.error);
      const auto prompt = running.extract(text.id).mapped();
      tokens -= std::ssize(prompts[prompt]);
      results[prompt] = std::move(text.hypotheses);
    }
  }
  return results;
}

std::vector<double> TokenLogProbabilities(const LanguageModel& model, std::span<const std::int32_t> ids,
                                          const Sequences& texts) {
  std::vector<double> results(ids.size());
  std::vector<std::int32_t> before;  // the rows that a next id of their text follows
  for (const Sequence& text : texts)
    for (std::int32_t row = text.begin; row + 1 < text.end(); ++row) before.push_back(row);
  Context context;
  const Tensor hidden = model.Decode(context, ids, texts);
  const auto at_once = static_cast<std::size_t>(LogitRowsAtOnce(model.outputs()));
  for (std::size_t begin = 0; begin < before.size(); begin += at_once) {
    const auto rows = std::span(before).subspan(begin, std::min(at_once, before.size() - begin));
    const Tensor scores_of_words = model.Logits(context, ops::Embedding(hidden, rows));
    const Matrix<float> logits = scores_of_words.matrix<float>();
    kernels::TopLogits<float> sums(logits.rows, 1);
    kernels::AddColumns<float>(logits, 0, {}, sums);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto next = static_cast<std::size_t>(rows[i]) + 1;
      Check(ids[next] < logits.columns, "token {}: {} only begins a text, and has no probability", next, ids[next]);
      results[next] = logits.row(static_cast<std::int64_t>(i))[ids[next]] - sums.max[i] -
                      std::log(static_cast<double>(sums.sum[i]));
      if (!std::isfinite(sums.sum[i])) model.parameters().FailNotFinite(fmt::format("scoring token {}", next));
    }
  }
  return results;
}

}  // namespace headlight
