#include "headlight/generate/draft.h"

#include <algorithm>

#include "headlight/nn/decoder_cache.h"

namespace headlight {

std::int32_t WriteDrafted(Context& context, BeamSearch& search, std::int32_t length, std::int32_t until,
                          const BeamRules& rules, const ReadWords& read, const WordWritten& written) {
  // With the token before them, the most queries whose attention has the bits of a single query's.
  constexpr std::int32_t most = 3;
  const std::int32_t drafts = std::min(most, until - length);
  std::vector<std::int32_t> words = {search.beams.front().ids.back()};
  context.draft = true;
  while (std::ssize(words) <= drafts && std::ranges::find(rules.end_ids, words.back()) == rules.end_ids.end())
    words.push_back(read(std::span(words).last(1)).columns.front());
  context.draft = false;
  context.cache->Forget(words.size() - 1);

  const kernels::TopLogits<float> next = read(words);
  std::size_t right = 0;
  do {
    const auto row = static_cast<std::int32_t>(right++);
    std::vector<std::size_t> from = Advance(search, next, row, length + row, rules);
    if (written) written(length + row, from);
  } while (!search.done && right < words.size() && search.beams.front().ids.back() == words[right]);
  context.cache->Forget(words.size() - right);
  return static_cast<std::int32_t>(right);
}

std::int32_t UntilRulesChange(const BeamSearch& search, std::int32_t length, std::int32_t shortest) {
  return length <= shortest ? std::min(shortest, search.max_length) : search.max_length;
}

}  // namespace headlight
