#include "headlight/text/tokenizers/answer_spans.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {

PassageWindows CutPassage(const PipelineTokenizer& tokenizer, std::string_view question, std::string_view passage,
                          std::int64_t longest, std::int64_t overlap, const std::string& name) {
  longest = std::min(longest, kLongestAnswerWindow);
  PassageWindows cut{tokenizer.EncodePair(question, passage, {.read_special = false}), {}};
  const std::int64_t of_passage = std::ranges::count(cut.encoding.texts, 1);
  const std::int64_t others = std::ssize(cut.encoding.ids) - of_passage;
  Check(of_passage > 0, "{}: the passage has no tokens", name);
  Check(others < longest,
        "{}: the question has {} tokens with the special ones, and with the passage the model reads {} at once", name,
        others, longest);
  overlap = std::min({overlap, longest / 2, longest - others - 1});
  constexpr std::int64_t most_tokens = std::int64_t{1} << 24;
  const std::int64_t step = longest - others - overlap;
  Check(of_passage / step < most_tokens / longest,
        "{}: the passage has {} tokens, of which each window would move on by {}: shorten the question, or divide the "
        "passage",
        name, of_passage, step);
  cut.windows = SlidingWindows(cut.encoding, 1, longest, overlap);
  return cut;
}

bool HasNoAnswerToken(const Window& window) { return window.first > 0 && window.encoding.texts.front() < 0; }

void FoundSpan::Add(const FoundSpan& other) {
  const float lowest = std::min(no_answer, other.no_answer);
  if (other.found && !(found && other.score <= score)) *this = other;
  no_answer = lowest;
}

FoundSpan BestSpan(const Matrix<float>& logits, const Window& window, std::int64_t longest_answer) {
  const bool has_null = HasNoAnswerToken(window);
  std::vector<float> probabilities[2];
  for (int side = 0; side < 2; ++side) {
    std::vector<float>& p = probabilities[side];
    if (has_null) p.push_back(logits.row(0)[side]);
    for (std::int32_t token = 0; token < window.count; ++token) p.push_back(logits.row(window.first + token)[side]);
    const float most = *std::ranges::max_element(p);
    float sum = 0;
    for (float& x : p) sum += x = std::exp(x - most);
    for (float& x : p) x /= sum;
  }
  const std::int32_t first = has_null ? 1 : 0, tokens = first + window.count;
  FoundSpan best;
  best.no_answer = has_null ? probabilities[0][0] * probabilities[1][0] : 0;
  for (std::int32_t begin = first; begin < tokens; ++begin)
    for (std::int32_t last = begin; last < std::min<std::int64_t>(tokens, begin + longest_answer); ++last) {
      const float score =
          probabilities[0][static_cast<std::size_t>(begin)] * probabilities[1][static_cast<std::size_t>(last)];
      if (best.found && score <= best.score) continue;
      best = {true, score, window.begin + begin - first, window.begin + last - first, best.no_answer};
    }
  return best;
}

TextSpan BytesOfTokens(std::string_view passage, const Encoding& encoding, std::int32_t begin, std::int32_t last) {
  return WithoutSpaces(passage, {encoding.spans[static_cast<std::size_t>(begin)].begin,
                                 encoding.spans[static_cast<std::size_t>(last)].end});
}

}  // namespace headlight
