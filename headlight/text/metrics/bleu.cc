#include "headlight/text/metrics/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "headlight/base/error.h"
#include "headlight/text/metrics/ngrams.h"
#include "headlight/text/metrics/tokenize_13a.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

constexpr std::size_t kBleuOrders = 4;

}  // namespace

std::array<double, kBleuStatistics> BleuStatistics(std::string_view hypothesis,
                                                   std::span<const std::string_view> references,
                                                   const BleuOptions& options) {
  WordNumbers numbers;
  const auto words_of = [&](std::string_view line) {
    return numbers.Of(options.tokenizer.words(options.lowercase ? LowerCase(line) : line));
  };
  const std::u32string words = words_of(hypothesis);
  std::vector<std::u32string> reference_words;
  for (const std::string_view reference : references) reference_words.push_back(words_of(reference));

  const auto length = static_cast<std::int64_t>(words.size());
  const auto nearest = [&](const std::u32string& reference) {  // ties: the shorter reference
    const auto size = static_cast<std::int64_t>(reference.size());
    return std::pair(std::abs(size - length), size);
  };
  std::array<double, kBleuStatistics> statistics{};
  statistics[0] = static_cast<double>(length);
  statistics[1] = static_cast<double>(nearest(*std::ranges::min_element(reference_words, {}, nearest)).second);
  for (std::size_t n = 1; n <= kBleuOrders; ++n) {
    Ngrams granted = CountNgrams(reference_words[0], n);
    for (const std::u32string& reference : std::span(reference_words).subspan(1))
      for (const auto& [ngram, count] : CountNgrams(reference, n)) granted[ngram] = std::max(granted[ngram], count);
    statistics[1 + n] = static_cast<double>(CountMatches(CountNgrams(words, n), granted));
    statistics[1 + kBleuOrders + n] =
        static_cast<double>(std::max<std::int64_t>(length - static_cast<std::int64_t>(n) + 1, 0));
  }
  return statistics;
}

Bleu BleuOf(std::span<const double> sums, bool effective_order) {
  Bleu bleu;
  bleu.hypothesis_length = std::llround(sums[0]);
  bleu.reference_length = std::llround(sums[1]);
  for (std::size_t n = 0; n < kBleuOrders; ++n) {
    bleu.matches[n] = std::llround(sums[2 + n]);
    bleu.totals[n] = std::llround(sums[2 + kBleuOrders + n]);
  }
  bleu.brevity_penalty = 1;
  if (bleu.hypothesis_length < bleu.reference_length)
    bleu.brevity_penalty =
        bleu.hypothesis_length == 0
            ? 0
            : std::exp(1 - static_cast<double>(bleu.reference_length) / static_cast<double>(bleu.hypothesis_length));
  if (std::ranges::count(bleu.matches, 0) == std::ssize(bleu.matches)) return bleu;

  // Exponential smoothing: the first order without a match counts as half a match, the next as a quarter, ...
  double smoothed = 1, logarithms = 0;
  std::size_t orders = 0;
  for (; orders < kBleuOrders && bleu.totals[orders] > 0; ++orders) {
    const std::size_t n = orders;
    if (bleu.matches[n] == 0) smoothed /= 2;
    const double matches = bleu.matches[n] == 0 ? smoothed : static_cast<double>(bleu.matches[n]);
    bleu.precisions[n] = 100 * matches / static_cast<double>(bleu.totals[n]);
    logarithms += std::log(bleu.precisions[n]);
  }
  if (orders < kBleuOrders && !effective_order) return bleu;  // all lines are too short, so the score is 0
  bleu.score = bleu.brevity_penalty * std::exp(logarithms / static_cast<double>(orders));
  return bleu;
}

std::string BleuSignature(std::size_t references, const BleuOptions& options) {
  // Uses sacreBLEU's signature format and adds the program that computed the score.
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:exp|version:2.6.0|by:headlight", references,
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     options.tokenizer.name);
}

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
    Check(references[r].size() == hypotheses.size(), "the hypothesis has {} lines, but {} has {}", hypotheses.size(),
          name, references[r].size());
    check_text(references[r], name);
  }
}

Bleu CorpusBleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                const BleuOptions& options) {
  CheckSameLines(hypotheses, references);
  std::array<double, kBleuStatistics> sums{};
  std::vector<std::string_view> line_references(references.size());
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    for (std::size_t r = 0; r < references.size(); ++r) line_references[r] = references[r][line];
    const auto statistics = BleuStatistics(hypotheses[line], line_references, options);
    std::ranges::transform(sums, statistics, sums.begin(), std::plus<>());
  }
  Bleu bleu = BleuOf(sums, options.effective_order);
  bleu.signature = BleuSignature(references.size(), options);
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
