#include "headlight/text/metrics/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "headlight/base/error.h"
#include "headlight/text/metrics/ngrams.h"
#include "headlight/text/metrics/tokenize_13a.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

// The words of a line and of its references as numbers, equal words by equal numbers.
class WordNumbers {
 public:
  std::u32string Of(std::string_view line, bool lowercase) {
    std::u32string numbers;
    for (std::string& word : Tokenize13a(lowercase ? LowerCase(line) : line))
      numbers.push_back(numbers_.try_emplace(std::move(word), static_cast<char32_t>(numbers_.size())).first->second);
    return numbers;
  }

 private:
  std::unordered_map<std::string, char32_t> numbers_;
};

void AddLine(std::string_view hypothesis, std::span<const std::string_view> references, bool lowercase, Bleu& bleu) {
  WordNumbers numbers;
  const std::u32string words = numbers.Of(hypothesis, lowercase);
  std::vector<std::u32string> reference_words;
  for (const std::string_view reference : references) reference_words.push_back(numbers.Of(reference, lowercase));

  const auto length = static_cast<std::int64_t>(words.size());
  const auto nearest = [&](const std::u32string& reference) {  // of two as near, the shorter
    const auto size = static_cast<std::int64_t>(reference.size());
    return std::pair(std::abs(size - length), size);
  };
  bleu.hypothesis_length += length;
  bleu.reference_length += nearest(*std::ranges::min_element(reference_words, {}, nearest)).second;

  for (std::size_t n = 1; n <= bleu.matches.size(); ++n) {
    Ngrams granted = CountNgrams(reference_words[0], n);
    for (const std::u32string& reference : std::span(reference_words).subspan(1))
      for (const auto& [ngram, count] : CountNgrams(reference, n)) granted[ngram] = std::max(granted[ngram], count);
    bleu.matches[n - 1] += CountMatches(CountNgrams(words, n), granted);
    bleu.totals[n - 1] += std::max<std::int64_t>(length - static_cast<std::int64_t>(n) + 1, 0);
  }
}

void ComputeScore(Bleu& bleu) {
  bleu.brevity_penalty = 1;
  if (bleu.hypothesis_length < bleu.reference_length)
    bleu.brevity_penalty =
        bleu.hypothesis_length == 0
            ? 0
            : std::exp(1 - static_cast<double>(bleu.reference_length) / static_cast<double>(bleu.hypothesis_length));
  if (std::ranges::count(bleu.matches, 0) == std::ssize(bleu.matches)) return;

  // Exponential smoothing: the first order without a match counts as half a match, the next as a quarter, ...
  double smoothed = 1, logarithms = 0;
  for (std::size_t n = 0; n < bleu.totals.size(); ++n) {
    if (bleu.totals[n] == 0) return;  // no line is as long as that: the score is 0
    if (bleu.matches[n] == 0) smoothed /= 2;
    const double matches = bleu.matches[n] == 0 ? smoothed : static_cast<double>(bleu.matches[n]);
    bleu.precisions[n] = 100 * matches / static_cast<double>(bleu.totals[n]);
    logarithms += std::log(bleu.precisions[n]);
  }
  bleu.score = bleu.brevity_penalty * std::exp(logarithms / static_cast<double>(bleu.totals.size()));
}

}  // namespace

void CheckSameLines(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references) {
  Check(!references.empty(), "there is no reference to compare with");
  Check(!hypotheses.empty(), "there is no hypothesis to score");
  const auto check_text = [](std::span<const std::string> lines, std::string_view name) {
    for (std::size_t line = 0; line < lines.size(); ++line)
      if (ValidUtf8(lines[line]) < lines[line].size())
        CheckUtf8(lines[line], fmt::format("{}, line {}", name, line + 1));
  };
  check_text(hypotheses, "the hypothesis");
  for (std::size_t r = 0; r < references.size(); ++r) {
    const std::string name = references.size() == 1 ? "the reference" : fmt::format("reference {}", r + 1);
    Check(references[r].size() == hypotheses.size(), "the hypothesis has {} lines, {} has {}: each needs the other",
          hypotheses.size(), name, references[r].size());
    check_text(references[r], name);
  }
}

Bleu CorpusBleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                bool lowercase) {
  CheckSameLines(hypotheses, references);
  Bleu bleu;
  std::vector<std::string_view> line_references(references.size());
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    for (std::size_t r = 0; r < references.size(); ++r) line_references[r] = references[r][line];
    AddLine(hypotheses[line], line_references, lowercase, bleu);
  }
  ComputeScore(bleu);
  // sacreBLEU's own, and a last word that says who counted.
  bleu.signature = fmt::format("nrefs:{}|case:{}|eff:no|tok:13a|smooth:exp|version:2.6.0|by:headlight",
                               references.size(), lowercase ? "lc" : "mixed");
  return bleu;
}

std::string ToString(const Bleu& bleu) {
  const double ratio = bleu.reference_length == 0
                           ? 0
                           : static_cast<double>(bleu.hypothesis_length) / static_cast<double>(bleu.reference_length);
  const std::array<double, 4>& p = bleu.precisions;
  return fmt::format(
      "BLEU|{} = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
      bleu.signature, bleu.score, p[0], p[1], p[2], p[3], bleu.brevity_penalty, ratio, bleu.hypothesis_length,
      bleu.reference_length);
}

}  // namespace headlight
