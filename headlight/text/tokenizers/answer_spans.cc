#include "headlight/text/tokenizers/answer_spans.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/normalizers.h"

namespace headlight {
namespace {

std::string Lower(std::string_view text, TextSpan part) {
  NormalizedText lower(text, part);
  Lowercase(lower);
  return std::move(lower.text);
}

// Returns the bytes of the passage that the window's tokens [begin, last] cover, without surrounding spaces. If
// `whole_words` is true, extends the bytes to whole words.
TextSpan BytesOf(std::string_view passage, const Window& window, std::int32_t begin, std::int32_t last,
                 bool whole_words) {
  const Encoding& encoding = window.encoding;
  const auto word = [&](std::int32_t token) { return encoding.words[static_cast<std::size_t>(token)]; };
  const std::int32_t first = window.first, end = window.first + window.count;
  while (whole_words && begin > first && word(begin - 1) == word(begin)) --begin;
  while (whole_words && last + 1 < end && word(last + 1) == word(last)) ++last;
  return WithoutSpaces(passage, {encoding.spans[static_cast<std::size_t>(begin)].begin,
                                 encoding.spans[static_cast<std::size_t>(last)].end});
}

}  // namespace

PassageWindows CutPassage(const PipelineTokenizer& tokenizer, std::string_view question, std::string_view passage,
                          std::int64_t longest, std::int64_t overlap, const std::string& name) {
  PassageWindows cut{tokenizer.EncodePair(question, passage, {.read_special = false}), {}};
  const std::int64_t of_passage = std::ranges::count(cut.encoding.texts, 1);
  const std::int64_t others = std::ssize(cut.encoding.ids) - of_passage;
  Check(of_passage > 0, "{}: the passage has no tokens", name);
  Check(others < longest,
        "{}: the question has {} tokens with the special ones, but the model reads {} at once with the passage", name,
        others, longest);
  overlap = std::min(overlap, longest - others - 1);
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

void FoundAnswers::Add(std::string_view passage, const FoundAnswers& other) {
  no_answer = std::min(no_answer, other.no_answer);
  for (const FoundAnswer& answer : other.answers) {
    const auto [same, is_new] = by_text.try_emplace(Lower(passage, answer.bytes), answers.size());
    if (is_new)
      answers.push_back(answer);
    else
      answers[same->second].score += answer.score;
  }
}

const FoundAnswer* FoundAnswers::best() const {
  const auto most = std::ranges::max_element(answers, {}, &FoundAnswer::score);
  return most == answers.end() ? nullptr : &*most;
}

bool FoundAnswers::declines() const { return best() == nullptr || no_answer > best()->score; }

FoundAnswers BestAnswers(const Matrix<float>& logits, const Window& window, std::string_view passage,
                         const AnswerSearch& search) {
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
  struct Span {
    float score;
    std::int32_t begin, last;  // token indices in the window
  };
  std::vector<Span> spans;  // in descending order of score
  for (std::int32_t begin = first; begin < tokens; ++begin)
    for (std::int32_t last = begin; last < std::min<std::int64_t>(tokens, begin + search.longest); ++last) {
      const float score =
          probabilities[0][static_cast<std::size_t>(begin)] * probabilities[1][static_cast<std::size_t>(last)];
      if (std::ssize(spans) == search.spans) {
        if (score <= spans.back().score) continue;
        spans.pop_back();
      }
      const auto at = std::ranges::upper_bound(spans, score, std::ranges::greater(), &Span::score);
      spans.insert(at, {score, window.first + begin - first, window.first + last - first});
    }
  FoundAnswers found;
  found.no_answer = has_null ? probabilities[0][0] * probabilities[1][0] : 0;
  for (const Span& span : spans) {
    FoundAnswers one{{{BytesOf(passage, window, span.begin, span.last, search.whole_words), span.score}},
                     found.no_answer};
    found.Add(passage, one);
  }
  return found;
}

}  // namespace headlight
