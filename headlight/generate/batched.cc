#include "headlight/generate/batched.h"

#include <algorithm>
#include <numeric>

#include "headlight/base/error.h"

namespace headlight {

void ForEachBatch(std::span<const std::size_t> lengths, std::int64_t batch_tokens,
                  const std::function<void(std::span<const std::size_t>)>& body) {
  Check(batch_tokens >= 1, "a batch must have at least one token, not {}", batch_tokens);
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return lengths[i]; });
  for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
    std::size_t tokens = lengths[order[begin]];
    for (end = begin + 1; end < order.size(); ++end) {
      tokens += lengths[order[end]];
      if (tokens > static_cast<std::size_t>(batch_tokens)) break;
    }
    body(std::span(order).subspan(begin, end - begin));
  }
}

std::vector<std::vector<Hypothesis>> DecodeInBatches(const EncoderDecoder& model,
                                                     const std::vector<std::vector<std::int32_t>>& sources,
                                                     const DecodingOptions& options, std::int64_t batch_tokens) {
  std::vector<std::size_t> sizes;
  for (const std::vector<std::int32_t>& source : sources) sizes.push_back(source.size());
  std::vector<std::vector<Hypothesis>> results(sources.size());
  ForEachBatch(sizes, batch_tokens, [&](std::span<const std::size_t> which) {
    std::vector<std::int32_t> ids, lengths;
    for (const std::size_t i : which) {
      ids.insert(ids.end(), sources[i].begin(), sources[i].end());
      lengths.push_back(static_cast<std::int32_t>(sources[i].size()));
    }
    auto hypotheses = Decode(model, ids, PackedSequences(lengths), options, which);
    for (std::size_t i = 0; i < which.size(); ++i) results[which[i]] = std::move(hypotheses[i]);
  });
  return results;
}

}  // namespace headlight
