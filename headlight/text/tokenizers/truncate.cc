#include "headlight/text/tokenizers/truncate.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// The tokens of a text, which lie together.
struct Run {
  std::int64_t begin = 0, count = 0;
};

Run RunOf(const Encoding& encoding, std::int32_t text) {
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

bool Truncate(Encoding& encoding, std::int64_t longest) {
  const std::int64_t excess = std::ssize(encoding.ids) - longest;
  if (excess <= 0) return false;
  Run runs[] = {RunOf(encoding, 0), RunOf(encoding, 1)};
  std::int64_t taken[] = {0, 0};
  for (std::int64_t i = 0; i < excess; ++i) {
    const int longer = runs[1].count >= runs[0].count ? 1 : 0;
    Check(runs[longer].count > 0, "the model reads {} tokens at once, and there are more special ones", longest);
    --runs[longer].count;
    ++taken[longer];
  }
  for (const int text : {1, 0}) {
    const std::int64_t end = runs[text].begin + runs[text].count;
    Erase(encoding, end, end + taken[text]);
  }
  return true;
}

}  // namespace headlight
