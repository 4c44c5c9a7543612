#include "headlight/generate/batched.h"

#include <algorithm>
#include <numeric>

#include "headlight/base/error.h"

namespace headlight {

std::vector<std::vector<Hypothesis>> DecodeInBatches(const EncoderDecoder& model,
                                                     const std::vector<std::vector<std::int32_t>>& sources,
                                                     const DecodingOptions& options, std::int64_t batch_tokens) {
  Check(batch_tokens >= 1, "a batch needs room for at least one token, not {}", batch_tokens);
  std::vector<std::size_t> order(sources.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Long ones first, so that the batch that needs most memory comes first.
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return sources[i].size(); });

  std::vector<std::vector<Hypothesis>> results(sources.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::vector<std::int32_t> ids, lengths;
    std::size_t end = begin;
    for (; end < order.size(); ++end) {
      const std::vector<std::int32_t>& source = sources[order[end]];
      if (end > begin && static_cast<std::int64_t>(ids.size() + source.size()) > batch_tokens) break;
      ids.insert(ids.end(), source.begin(), source.end());
      lengths.push_back(static_cast<std::int32_t>(source.size()));
    }
    auto hypotheses = Decode(model, ids, PackedSequences(lengths), options);
    for (std::size_t i = begin; i < end; ++i) results[order[i]] = std::move(hypotheses[i - begin]);
    begin = end;
  }
  return results;
}

}  // namespace headlight
