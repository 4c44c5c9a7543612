#include "headlight/text/metrics/answer_score.h"

#include <unicode/locid.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "headlight/text/characters.h"

namespace headlight {
namespace {

// Returns the words that SQuAD's official script compares.
std::vector<std::string> NormalizedWords(std::string_view text) {
  icu::UnicodeString lower = icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
  lower.toLower(icu::Locale::getRoot());
  std::string bytes;
  lower.toUTF8String(bytes);
  std::string kept;  // the text without ASCII punctuation
  for (const char c : bytes)
    if (static_cast<unsigned char>(c) >= 0x80 || std::ispunct(static_cast<unsigned char>(c)) == 0) kept += c;
  // Removes articles. Words end at any character that is not alphanumeric, and an article is replaced by a space.
  std::vector<std::string> words(1);
  std::string run;  // the current run of letters and digits
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

double WordF1(const std::vector<std::string>& answer, const std::vector<std::string>& reference) {
  if (answer.empty() || reference.empty()) return answer == reference ? 1 : 0;
  std::map<std::string_view, std::int64_t> counts;
  for (const std::string& word : reference) ++counts[word];
  double same = 0;
  for (const std::string& word : answer)
    if (const auto found = counts.find(word); found != counts.end() && found->second-- > 0) ++same;
  return 2 * same / static_cast<double>(answer.size() + reference.size());
}

}  // namespace

AnswerScore ScoreAnswer(std::string_view answer, std::span<const std::string> references) {
  const std::vector<std::string> words = NormalizedWords(answer);
  bool any = false;
  AnswerScore best;
  for (const std::string& one : references) {
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
