#include "headlight/text/tokenizers/truncate.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// The tokens of a text, which are contiguous.
struct TokensOfText {
  std::int64_t begin = 0, count = 0;
};

TokensOfText RunOf(const Encoding& encoding, std::int32_t text) {
  const std::int64_t begin = std::ranges::find(encoding.texts, text) - encoding.texts.begin();
  return {begin, std::ranges::count(encoding.texts, text)};
}

void Erase(Encoding& encoding, std::int64_t begin, std::int64_t end) {
  const auto from = [&](auto& tokens) { tokens.erase(tokens.begin() + begin, tokens.begin() + end); };
  from(encoding.ids);
  from(encoding.type_ids);
  from(encoding.texts);
  from(encoding.spans);
  from(encoding.words);
}

}  // namespace

bool Truncate(Encoding& encoding, std::int64_t longest, CutAt side) {
  if (std::ssize(encoding.ids) <= longest) return false;
  const TokensOfText runs[] = {RunOf(encoding, 0), RunOf(encoding, 1)};
  const std::int64_t room = longest - (std::ssize(encoding.ids) - runs[0].count - runs[1].count);
  Check(room >= 0, "the model reads {} tokens at once, but there are more special tokens", longest);
  const int longer = runs[0].count > runs[1].count ? 0 : 1;
  std::int64_t kept[2];
  kept[1 - longer] = std::min(runs[1 - longer].count, room / 2);
  kept[longer] = room - kept[1 - longer];
  for (const int text : {1, 0}) {
    const std::int64_t begin = runs[text].begin + (side == CutAt::end ? kept[text] : 0);
    Erase(encoding, begin, begin + runs[text].count - kept[text]);
  }
  return true;
}

}  // namespace headlight
