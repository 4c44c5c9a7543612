#include "headlight/recipes/find_shifts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "headlight/base/hash.h"
#include "headlight/text/characters.h"

namespace headlight {
namespace {

constexpr int kOffsets = 2 * kLargestOffset + 1;
// The cost of a change of the offset, in nats. It makes false shifts improbable in 10^6 lines. A true shift is found if
// it lasts for about 30 to 60 lines.
constexpr double kChange = 30;
constexpr int kLengthBins = 25, kDigitBins = 4, kWordBins = 8;

bool IsWordByte(unsigned char c) {
  return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// The features of a pair of lines.
struct Bins {
  int length, digits, words;
};

Bins BinsOf(const LineTraits& source, const LineTraits& target, double mean_difference) {
  const double difference = (target.length - source.length - mean_difference) / 256;
  const int length = std::clamp(static_cast<int>(std::lround(difference * 10)), -12, 12) + 12;
  const int digits = source.digits == 0 && target.digits == 0   ? 0
                     : source.digits == target.digits           ? 1
                     : source.digits == 0 || target.digits == 0 ? 2
                                                                : 3;
  // Subtracts the expected number of words shared by chance, which grows with the length of the lines.
  const int shared = std::popcount(source.words & target.words);
  const double chance = std::popcount(source.words) * std::popcount(target.words) / 32.0;
  const int words = std::clamp(static_cast<int>(std::lround((shared - chance) * 1.5)), -2, 5) + 2;
  return {length, digits, words};
}

// The log-odds that two lines are aligned, for each feature.
struct LogOdds {
  std::array<double, kLengthBins> length = {};
  std::array<double, kDigitBins> digits = {};
  std::array<double, kWordBins> words = {};

  double operator()(const Bins& bins) const {
    return length[static_cast<std::size_t>(bins.length)] + digits[static_cast<std::size_t>(bins.digits)] +
           words[static_cast<std::size_t>(bins.words)];
  }
};

// Returns the log-odds of a feature's bins: `in` has the counts of aligned lines, and `out` the counts of distant
// lines.
template <std::size_t size>
std::array<double, size> OddsOf(const std::array<double, size>& in, const std::array<double, size>& out) {
  double all_in = 0, all_out = 0;
  for (std::size_t i = 0; i < size; ++i) {
    all_in += in[i];
    all_out += out[i];
  }
  std::array<double, size> odds{};
  if (all_in == 0 || all_out == 0) return odds;
  constexpr double prior = 20;  // pseudo-counts, so that rare bins have little weight
  for (std::size_t i = 0; i < size; ++i) {
    const double share = (in[i] + out[i]) / (all_in + all_out);
    if (share > 0)
      odds[i] = std::log((in[i] + prior * share) / (all_in + prior) * (all_out + prior) / (out[i] + prior * share));
  }
  return odds;
}

// Returns the segments of the best path, found with the Viterbi algorithm. All lines of a segment have the same offset.
std::vector<Shift> BestPath(const std::deque<LineTraits>& source, const std::deque<LineTraits>& target,
                            const LogOdds& odds, double mean_difference) {
  const std::size_t lines = source.size();
  const auto targets = static_cast<std::int64_t>(target.size());
  std::array<double, kOffsets> score;
  score.fill(-kChange);
  score[kLargestOffset] = 0;
  // For each line: the offsets that the best path reaches by a change (one bit per offset), and the offset before the
  // change.
  std::vector<std::uint16_t> changed(lines);
  std::vector<std::uint8_t> changed_from(lines);
  for (std::size_t line = 0; line < lines; ++line) {
    const auto best = static_cast<std::size_t>(std::ranges::max_element(score) - score.begin());
    const double change = score[best] - kChange;
    changed_from[line] = static_cast<std::uint8_t>(best);
    for (int i = 0; i < kOffsets; ++i) {
      const auto state = static_cast<std::size_t>(i);
      if (line > 0 && change > score[state]) {
        score[state] = change;
        changed[line] = static_cast<std::uint16_t>(changed[line] | (1U << i));
      }
      const std::int64_t other = static_cast<std::int64_t>(line) + i - kLargestOffset;
      if (other >= 0 && other < targets)
        score[state] += odds(BinsOf(source[line], target[static_cast<std::size_t>(other)], mean_difference));
    }
  }
  auto state = static_cast<std::size_t>(std::ranges::max_element(score) - score.begin());
  std::vector<Shift> path;
  for (std::size_t line = lines; line-- > 0;) {
    if ((changed[line] >> state & 1U) == 0) continue;
    path.push_back({static_cast<std::int64_t>(line), static_cast<int>(state) - kLargestOffset});
    state = changed_from[line];
  }
  path.push_back({0, static_cast<int>(state) - kLargestOffset});
  std::ranges::reverse(path);
  return path;
}

struct LearnedOdds {
  LogOdds odds;
  double information = 0;  // information of all pairs on the path, in nats
};

// Estimates log-odds by comparing the pairs on the path with pairs of distant lines.
LearnedOdds OddsOfPath(const std::deque<LineTraits>& source, const std::deque<LineTraits>& target,
                       const std::vector<Shift>& path, double mean_difference) {
  LogOdds in{}, out{};  // counts
  const auto lines = static_cast<std::int64_t>(source.size()), targets = static_cast<std::int64_t>(target.size());
  const auto count = [&](LogOdds& counts, std::int64_t line, std::int64_t other) {
    if (other < 0 || other >= targets) return;
    const Bins bins =
        BinsOf(source[static_cast<std::size_t>(line)], target[static_cast<std::size_t>(other)], mean_difference);
    ++counts.length[static_cast<std::size_t>(bins.length)];
    ++counts.digits[static_cast<std::size_t>(bins.digits)];
    ++counts.words[static_cast<std::size_t>(bins.words)];
  };
  std::size_t part = 0;
  for (std::int64_t line = 0; line < lines; ++line) {
    while (part + 1 < path.size() && path[part + 1].line <= line) ++part;
    count(in, line, line + path[part].offset);
    for (const int apart : {-29, 24})  // one odd and one even, because texts may have lines of two kinds that alternate
      count(out, line, line + apart);
  }
  LearnedOdds learned{.odds = {.length = OddsOf(in.length, out.length),
                               .digits = OddsOf(in.digits, out.digits),
                               .words = OddsOf(in.words, out.words)}};
  const auto add = [&](const auto& counts, const auto& odds) {
    for (std::size_t i = 0; i < counts.size(); ++i) learned.information += counts[i] * odds[i];
  };
  add(in.length, learned.odds.length);
  add(in.digits, learned.odds.digits);
  add(in.words, learned.odds.words);
  return learned;
}

// Returns the log-odds estimated with the single offset that gives the most information. In files with a shift, this
// offset is correct on one side of the shift. All log-odds are 0 if the two files are unrelated.
LogOdds OddsOfBestOffset(const std::deque<LineTraits>& source, const std::deque<LineTraits>& target,
                         double mean_difference) {
  LearnedOdds best{};
  std::vector<double> information;
  for (int offset = -kLargestOffset; offset <= kLargestOffset; ++offset) {
    LearnedOdds learned = OddsOfPath(source, target, {{0, offset}}, mean_difference);
    information.push_back(learned.information);
    if (learned.information > best.information) best = std::move(learned);
  }
  // Every offset gives some information by chance, and more if long and short lines alternate in both files.
  std::ranges::nth_element(information, information.begin() + kLargestOffset);
  constexpr double least = 25;
  const double usual = information[kLargestOffset];
  return best.information < 1.2 * usual + least ? LogOdds{} : best.odds;
}

double MeanLength(const std::deque<LineTraits>& lines) {
  double sum = 0;
  for (const LineTraits& line : lines) sum += line.length;
  return sum / static_cast<double>(lines.size());
}

}  // namespace

LineTraits TraitsOf(std::string_view text) {
  LineTraits traits;
  traits.length = static_cast<std::uint16_t>(std::lround(256 * std::log1p(static_cast<double>(CountCharacters(text)))));
  std::string word;
  const auto end_word = [&] {
    if (word.size() >= 4) traits.words |= 1U << (HashOf(std::string_view(word).substr(0, 5)) & 31);
    word.clear();
  };
  std::string number;
  const auto end_number = [&] {
    if (!number.empty()) traits.digits = static_cast<std::uint16_t>(traits.digits + (HashOf(number) | 1));
    number.clear();
  };
  for (const char c : text) {
    if (c >= '0' && c <= '9')
      number += c;
    else
      end_number();
    if (!IsWordByte(static_cast<unsigned char>(c)))
      end_word();
    else if (word.size() < 8)
      word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  end_number();
  end_word();
  return traits;
}

std::vector<Shift> FindShifts(const std::deque<LineTraits>& source, const std::deque<LineTraits>& target) {
  if (source.empty() || target.empty()) return {};
  const double difference = MeanLength(target) - MeanLength(source);
  std::vector<Shift> path = BestPath(source, target, OddsOfBestOffset(source, target, difference), difference);
  if (path.size() > 1) path = BestPath(source, target, OddsOfPath(source, target, path, difference).odds, difference);
  if (path.front().offset == 0) path.erase(path.begin());
  return path;
}

}  // namespace headlight
