#include "headlight/text/answers.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/text/characters.h"

namespace headlight {
namespace {

// The words that SQuAD's official script compares.
std::vector<std::string> NormalizedWords(std::string_view text) {
  icu::UnicodeString lower = icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
  lower.toLower(icu::Locale::getRoot());
  std::string bytes;
  lower.toUTF8String(bytes);
  std::string kept;  // without punctuation, which is ASCII's here
  for (const char c : bytes)
    if (static_cast<unsigned char>(c) >= 0x80 || std::ispunct(static_cast<unsigned char>(c)) == 0) kept += c;
  // Articles go where they are words, which end at other marks too, and leave a space.
  std::vector<std::string> words(1);
  std::string run;  // of letters and digits
  const auto end_run = [&] {
    if (run == "a" || run == "an" || run == "the")
      words.emplace_back();
    else
      words.back() += run;
    run.clear();
  };
  ForEachCharacter(kept, [&](char32_t c, std::size_t begin, std::size_t end) {
    const CharacterClass kind = ClassOf(c);
    const std::string_view character = std::string_view(kept).substr(begin, end - begin);
    if (kind == CharacterClass::letter || kind == CharacterClass::number) {
      run += character;
      return;
    }
    end_run();
    if (IsWhiteSpace(c))
      words.emplace_back();
    else
      words.back() += character;
  });
  end_run();
  std::erase(words, "");
  return words;
}

double WordF1(const std::vector<std::string>& answer, const std::vector<std::string>& right) {
  if (answer.empty() || right.empty()) return answer == right ? 1 : 0;
  std::map<std::string_view, std::int64_t> counts;
  for (const std::string& word : right) ++counts[word];
  double same = 0;
  for (const std::string& word : answer)
    if (const auto found = counts.find(word); found != counts.end() && found->second-- > 0) ++same;
  return 2 * same / static_cast<double>(answer.size() + right.size());
}

}  // namespace

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

AnswerScore ScoreAnswer(std::string_view answer, std::span<const std::string> right) {
  const std::vector<std::string> words = NormalizedWords(answer);
  bool any = false;
  AnswerScore best;
  for (const std::string& one : right) {
    const std::vector<std::string> expected = NormalizedWords(one);
    if (expected.empty()) continue;
    any = true;
    best.exact = best.exact || words == expected;
    best.f1 = std::max(best.f1, WordF1(words, expected));
  }
  if (!any) return {words.empty(), words.empty() ? 1.0 : 0.0};
  return best;
}

}  // namespace headlight
