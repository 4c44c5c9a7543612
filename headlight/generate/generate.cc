#include "headlight/generate/generate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "headlight/base/parallel.h"
#include "headlight/generate/choose_tokens.h"
#include "headlight/generate/decoding_batch.h"
#include "headlight/kernels/top_k.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

void CheckOptions(const LanguageModel& model, const std::vector<std::vector<std::int32_t>>& prompts,
                  const GenerationOptions& options) {
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
          "prompt {} has {} tokens, which leaves no space in a `max_length` of {}", i + 1, prompts[i].size(),
          options.max_length);
    Check(!prompts[i].empty() && std::ssize(prompts[i]) <= positions,
          "a prompt must have from 1 to {} tokens; prompt {} has {}", positions, i + 1, prompts[i].size());
  }
}

// Returns the rows of tokens that another token of the same text follows.
std::vector<std::int32_t> RowsBeforeTokens(const Sequences& texts) {
  std::vector<std::int32_t> before;
  for (const Sequence& text : texts)
    for (std::int32_t row = text.begin; row + 1 < text.end(); ++row) before.push_back(row);
  return before;
}

// Returns log(sum of exp(logit)), which is finite. Throws Error if it is not.
double LogSumExp(std::span<const float> logits, const LanguageModel& model, std::int32_t token) {
  const double max = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - max);
  if (!std::isfinite(sum)) model.parameters().FailNotFinite(fmt::format("scoring token {}", token));
  return max + std::log(sum);
}

}  // namespace

std::vector<DecodingRequest> RequestsFor(const LanguageModel& model, std::vector<std::vector<std::int32_t>> prompts,
                                         const GenerationOptions& options) {
  CheckOptions(model, prompts, options);
  CheckSearch(options.search, model.outputs());
  const auto forced = std::make_shared<const SearchOptions>(options.search);
  auto search = forced;
  if (forced->first_token) {
    SearchOptions without = options.search;
    without.first_token.reset();
    search = std::make_shared<const SearchOptions>(std::move(without));
  }
  std::vector<DecodingRequest> requests;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto length = static_cast<std::int32_t>(prompts[i].size());
    DecodingRequest& request =
        requests.emplace_back(DecodingRequest{.prompt = std::move(prompts[i]), .unguided = options.unguided});
    request.options = length == 1 ? forced : search;
    request.max_new_tokens = options.max_new_tokens;
    if (options.max_length > 0) request.max_new_tokens = std::min(request.max_new_tokens, options.max_length - length);
    request.min_new_tokens = std::max({options.min_new_tokens, options.min_length - length, 0});
    request.seed = options.seed;
    request.stream = options.first_stream + i;
    if (options.on_token) request.on_token = [&options, i](std::int32_t id) { return options.on_token(i, id); };
  }
  return requests;
}

std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model,
                                              const std::vector<std::vector<std::int32_t>>& prompts,
                                              const GenerationOptions& options) {
  return Generate(model, RequestsFor(model, prompts, options), options.batch_tokens, options.cancelled);
}

std::vector<std::vector<Hypothesis>> Generate(const LanguageModel& model, std::vector<DecodingRequest> requests,
                                              std::int64_t batch_tokens, const std::function<bool()>& cancelled) {
  Check(batch_tokens >= 1, "a batch must have at least one token, not {}", batch_tokens);
  DecodingBatch batch(model);
  std::vector<std::int64_t> sizes;
  for (const DecodingRequest& request : requests) sizes.push_back(std::ssize(request.prompt));
  // The longest prompts are first, so that the peak memory is needed at the start.
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return sizes[i]; });

  std::vector<std::vector<Hypothesis>> results(requests.size());
  std::map<std::int64_t, std::size_t> running;  // index of the request of each running text
  std::int64_t tokens = 0;                      // total length of the running prompts
  for (auto next = order.begin(); next != order.end() || !batch.empty();) {
    for (; next != order.end(); ++next) {
      if (!running.empty() && tokens + sizes[*next] > batch_tokens) break;
      running[batch.Add(std::move(requests[*next]))] = *next;
      tokens += sizes[*next];
    }
    if (cancelled && cancelled()) throw Cancelled();
    for (Decoded& text : batch.Step()) {
      if (text.error != nullptr) std::rethrow_exception(text.error);
      const auto request = running.extract(text.id).mapped();
      tokens -= sizes[request];
      results[request] = std::move(text.hypotheses);
    }
  }
  return results;
}

std::vector<double> TokenDivergences(const LanguageModel& baseline, const LanguageModel& model,
                                     std::span<const std::int32_t> ids, const Sequences& texts) {
  Check(baseline.outputs() == model.outputs(), "the baseline has {} outputs, and the model {}", baseline.outputs(),
        model.outputs());
  std::vector<double> results(ids.size());
  const std::vector<std::int32_t> before = RowsBeforeTokens(texts);
  Context context;
  const Tensor expected = baseline.Decode(context, ids, texts), hidden = model.Decode(context, ids, texts);
  const auto at_once = static_cast<std::size_t>(LogitRowsAtOnce(model.outputs()));
  for (std::size_t begin = 0; begin < before.size(); begin += at_once) {
    const auto rows = std::span(before).subspan(begin, std::min(at_once, before.size() - begin));
    const Tensor logits_p = baseline.Logits(context, ops::Embedding(expected, rows));
    const Tensor logits_q = model.Logits(context, ops::Embedding(hidden, rows));
    ParallelFor(std::ssize(rows), [&](std::int64_t row) {
      const std::int32_t token = rows[static_cast<std::size_t>(row)] + 1;
      const auto columns = static_cast<std::size_t>(model.outputs());
      const std::span<const float> p(logits_p.matrix<float>().row(row), columns);
      const std::span<const float> q(logits_q.matrix<float>().row(row), columns);
      const double log_p = LogSumExp(p, baseline, token), log_q = LogSumExp(q, model, token);
      double divergence = 0;
      for (std::size_t i = 0; i < columns; ++i) {
        const double probability = std::exp(p[i] - log_p);
        if (probability > 0) divergence += probability * (static_cast<double>(p[i]) - q[i] - (log_p - log_q));
      }
      results[static_cast<std::size_t>(token)] = divergence;
    });
  }
  return results;
}

std::vector<double> TokenLogProbabilities(const LanguageModel& model, std::span<const std::int32_t> ids,
                                          const Sequences& texts) {
  std::vector<double> results(ids.size());
  const std::vector<std::int32_t> before = RowsBeforeTokens(texts);
  Context context;
  const Tensor hidden = model.Decode(context, ids, texts);
  const auto at_once = static_cast<std::size_t>(LogitRowsAtOnce(model.outputs()));
  for (std::size_t begin = 0; begin < before.size(); begin += at_once) {
    const auto rows = std::span(before).subspan(begin, std::min(at_once, before.size() - begin));
    const Tensor scores_of_tokens = model.Logits(context, ops::Embedding(hidden, rows));
    const Matrix<float> logits = scores_of_tokens.matrix<float>();
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
