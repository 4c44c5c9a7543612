#include "headlight/text/metrics/chrf.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "headlight/text/characters.h"
#include "headlight/text/metrics/bleu.h"
#include "headlight/text/metrics/ngrams.h"
#include "headlight/text/metrics/tokenize_13a.h"

namespace headlight {
namespace {

constexpr std::size_t kOrders = 6;
constexpr double kBeta = 2;

// Of one order: n-grams of the hypothesis, of the reference, and of both.
struct Counts {
  std::int64_t hypothesis = 0, reference = 0, matches = 0;
};
using AllCounts = std::array<Counts, kOrders>;

std::u32string Characters(std::string_view line, bool lowercase) {
  const std::string lowered = lowercase ? LowerCase(line) : std::string();
  std::u32string characters;
  for (const std::string_view word : SplitAtSpaces(lowercase ? lowered : line))
    ForEachCharacter(word, [&](char32_t code, std::size_t, std::size_t) { characters.push_back(code); });
  return characters;
}

// F of the mean precision and recall of those orders that both sides are long enough for.
double Score(const AllCounts& counts) {
  double precision = 0, recall = 0, orders = 0;
  for (const Counts& order : counts) {
    if (order.hypothesis == 0 || order.reference == 0) continue;
    precision += static_cast<double>(order.matches) / static_cast<double>(order.hypothesis);
    recall += static_cast<double>(order.matches) / static_cast<double>(order.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double kFactor = kBeta * kBeta;
  return 100 * (1 + kFactor) * precision * recall / (kFactor * precision + recall);
}

AllCounts Compare(std::u32string_view hypothesis, std::u32string_view reference) {
  AllCounts counts;
  for (std::size_t n = 1; n <= kOrders; ++n) {
    const auto size = [n](std::u32string_view text) {
      return static_cast<std::int64_t>(text.size() < n ? 0 : text.size() - n + 1);
    };
    // Where the reference is too short to have n-grams, those of the hypothesis do not count.
    counts[n - 1] = {size(reference) == 0 ? 0 : size(hypothesis), size(reference),
                     CountMatches(CountNgrams(hypothesis, n), CountNgrams(reference, n))};
  }
  return counts;
}

}  // namespace

Chrf CorpusChrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                bool lowercase) {
  CheckSameLines(hypotheses, references);
  AllCounts sums;
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    const std::u32string hypothesis = Characters(hypotheses[line], lowercase);
    AllCounts best;
    double best_score = -1;
    for (const std::vector<std::string>& reference : references) {
      const AllCounts counts = Compare(hypothesis, Characters(reference[line], lowercase));
      if (const double score = Score(counts); score > best_score) {
        best = counts;
        best_score = score;
      }
    }
    for (std::size_t order = 0; order < kOrders; ++order) {
      sums[order].hypothesis += best[order].hypothesis;
      sums[order].reference += best[order].reference;
      sums[order].matches += best[order].matches;
    }
  }
  return {Score(sums), fmt::format("nrefs:{}|case:{}|eff:yes|nc:6|nw:0|space:no|version:2.6.0|by:headlight",
                                   references.size(), lowercase ? "lc" : "mixed")};
}

std::string ToString(const Chrf& chrf) { return fmt::format("chrF2|{} = {:.2f}", chrf.signature, chrf.score); }

}  // namespace headlight
