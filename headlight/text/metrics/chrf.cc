#include "headlight/text/metrics/chrf.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "headlight/text/characters.h"
#include "headlight/text/metrics/bleu.h"
#include "headlight/text/metrics/ngrams.h"
#include "headlight/text/metrics/tokenize_13a.h"

namespace headlight {
namespace {

constexpr std::size_t kCharacterOrders = 6, kWordOrders = 2;
constexpr double kBeta = 2;

std::u32string CharactersOf(std::string_view line) {
  std::u32string characters;
  for (const std::string_view word : SplitAtSpaces(line))
    ForEachCharacter(word, [&](char32_t code, std::size_t, std::size_t) { characters.push_back(code); });
  return characters;
}

// Splits a line into words. Separates one ASCII punctuation mark from the end of each word, or else from its start.
std::vector<std::string_view> WordsAndMarks(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : SplitAtSpaces(line)) {
    const auto is_mark = [](char byte) { return IsAsciiPunctuation(static_cast<unsigned char>(byte)); };
    std::size_t cut = 0;
    if (CountCharacters(word) > 1) cut = is_mark(word.back()) ? word.size() - 1 : is_mark(word.front()) ? 1 : 0;
    if (cut > 0) words.push_back(word.substr(0, cut));
    words.push_back(word.substr(cut));
  }
  return words;
}

// For each order, appends the n-gram counts of the hypothesis and of the reference, and the number of matches.
void AppendCounts(std::u32string_view hypothesis, std::u32string_view reference, std::size_t orders,
                  std::vector<double>& counts) {
  for (std::size_t n = 1; n <= orders; ++n) {
    const auto size = [n](std::u32string_view text) {
      return static_cast<double>(text.size() < n ? 0 : text.size() - n + 1);
    };
    // If the reference is too short to have n-grams, the n-grams of the hypothesis are ignored.
    counts.push_back(size(reference) == 0 ? 0 : size(hypothesis));
    counts.push_back(size(reference));
    counts.push_back(static_cast<double>(CountMatches(CountNgrams(hypothesis, n), CountNgrams(reference, n))));
  }
}

}  // namespace

// Returns the F score of the mean precision and mean recall over the orders for which both sides are long enough.
double ChrfOf(std::span<const double> sums) {
  double precision = 0, recall = 0, orders = 0;
  for (std::size_t order = 0; order < sums.size(); order += 3) {
    const double hypothesis = sums[order], reference = sums[order + 1], matches = sums[order + 2];
    if (hypothesis == 0 || reference == 0) continue;
    precision += matches / hypothesis;
    recall += matches / reference;
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double kFactor = kBeta * kBeta;
  return 100 * (1 + kFactor) * precision * recall / (kFactor * precision + recall);
}

std::vector<double> ChrfStatistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                   const ChrfOptions& options) {
  const auto line = [&](std::string_view text) { return options.lowercase ? LowerCase(text) : std::string(text); };
  const std::string own = line(hypothesis);
  const std::u32string characters = CharactersOf(own);
  WordNumbers numbers;
  const std::u32string words = options.words ? numbers.Of(WordsAndMarks(own)) : std::u32string();
  std::vector<double> best;
  double best_score = -1;
  for (const std::string_view reference : references) {
    const std::string other = line(reference);
    std::vector<double> counts;
    AppendCounts(characters, CharactersOf(other), kCharacterOrders, counts);
    if (options.words) AppendCounts(words, numbers.Of(WordsAndMarks(other)), kWordOrders, counts);
    if (const double score = ChrfOf(counts); score > best_score) {
      best = std::move(counts);
      best_score = score;
    }
  }
  return best;
}

std::string ChrfSignature(std::size_t references, const ChrfOptions& options) {
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:2.6.0|by:headlight", references,
                     options.lowercase ? "lc" : "mixed", kCharacterOrders, options.words ? kWordOrders : 0);
}

Chrf CorpusChrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                const ChrfOptions& options) {
  CheckSameLines(hypotheses, references);
  std::vector<double> sums(3 * (kCharacterOrders + (options.words ? kWordOrders : 0)));
  std::vector<std::string_view> line_references(references.size());
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    for (std::size_t r = 0; r < references.size(); ++r) line_references[r] = references[r][line];
    std::ranges::transform(sums, ChrfStatistics(hypotheses[line], line_references, options), sums.begin(),
                           std::plus<>());
  }
  return {ChrfOf(sums), options.words, ChrfSignature(references.size(), options)};
}

std::string ToString(const Chrf& chrf) {
  return fmt::format("chrF2{}|{} = {:.2f}", chrf.words ? "++" : "", chrf.signature, chrf.score);
}

}  // namespace headlight
