#include "headlight/text/metrics/bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "headlight/base/error.h"

namespace headlight {
namespace {

__extension__ using Wide = unsigned __int128;

// Expands the seed to eight words as in NumPy's SeedSequence (based on O'Neill's seed_seq_fe).
std::array<std::uint32_t, 8> SeedWords(std::uint64_t seed) {
  std::uint32_t factor = 0x43B0D7E5;
  const auto hash = [&](std::uint32_t word) {
    word ^= factor;
    factor *= 0x931E8875;
    word *= factor;
    return word ^ word >> 16;
  };
  std::array<std::uint32_t, 4> pool = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), 0, 0};
  for (std::uint32_t& word : pool) word = hash(word);
  for (std::size_t from = 0; from < pool.size(); ++from) {
    for (std::size_t to = 0; to < pool.size(); ++to) {
      if (from == to) continue;
      const std::uint32_t mixed = 0xCA01F9DD * pool[to] - 0x4973F715 * hash(pool[from]);
      pool[to] = mixed ^ mixed >> 16;
    }
  }
  std::array<std::uint32_t, 8> words{};
  factor = 0x8B51F9DD;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t word = pool[i % pool.size()] ^ factor;
    factor *= 0x58F38DED;
    word *= factor;
    words[i] = word ^ word >> 16;
  }
  return words;
}

Wide Join(std::uint64_t high, std::uint64_t low) { return static_cast<Wide>(high) << 64 | low; }

Wide Advanced(Wide state, Wide increment) {
  return state * Join(2549297995355413924u, 4865540595714422341u) + increment;
}

BootstrapInterval IntervalOf(std::vector<double> scores) {
  const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
  std::ranges::sort(scores);
  const std::size_t below = scores.size() / 40;
  return {mean, (scores[scores.size() - below - 1] - scores[below]) / 2};
}

}  // namespace

NumpyChoice::NumpyChoice(std::uint64_t seed, std::uint32_t count) : count_(count) {
  Ensure(count >= 1, "there is nothing to choose from");
  const std::array<std::uint32_t, 8> words = SeedWords(seed);
  const auto word = [&](std::size_t i) { return static_cast<std::uint64_t>(words[2 * i + 1]) << 32 | words[2 * i]; };
  const Wide increment = Join(word(2), word(3)) << 1 | 1;
  const Wide state = Advanced(increment + Join(word(0), word(1)), increment);
  high_ = static_cast<std::uint64_t>(state >> 64);
  low_ = static_cast<std::uint64_t>(state);
  increment_high_ = static_cast<std::uint64_t>(increment >> 64);
  increment_low_ = static_cast<std::uint64_t>(increment);
}

std::uint32_t NumpyChoice::Next32() {
  if (has_buffer_) {
    has_buffer_ = false;
    return buffer_;
  }
  const Wide state = Advanced(Join(high_, low_), Join(increment_high_, increment_low_));
  high_ = static_cast<std::uint64_t>(state >> 64);
  low_ = static_cast<std::uint64_t>(state);
  const std::uint64_t mixed = high_ ^ low_;
  const auto turn = static_cast<int>(high_ >> 58);
  const std::uint64_t bits = mixed >> turn | mixed << (-turn & 63);
  buffer_ = static_cast<std::uint32_t>(bits >> 32);
  has_buffer_ = true;
  return static_cast<std::uint32_t>(bits);
}

// Returns an unbiased random index (Lemire, "Fast Random Integer Generation in an Interval", 2019).
std::uint32_t NumpyChoice::operator()() {
  if (count_ == 1) return 0;
  const std::uint32_t threshold = (0u - count_) % count_;
  for (;;) {
    const std::uint64_t product = static_cast<std::uint64_t>(Next32()) * count_;
    if (static_cast<std::uint32_t>(product) >= threshold) return static_cast<std::uint32_t>(product >> 32);
  }
}

PairedBootstrap ComparePaired(const std::vector<std::vector<double>>& system,
                              const std::vector<std::vector<double>>& baseline,
                              const std::function<double(std::span<const double>)>& score, std::int64_t samples,
                              std::uint64_t seed) {
  Check(system.size() == baseline.size(), "the baseline has {} lines, but the hypothesis has {}", baseline.size(),
        system.size());
  Check(!system.empty() && system.size() < std::numeric_limits<std::uint32_t>::max(), "{} lines cannot be sampled",
        system.size());
  Check(samples >= 1, "there must be at least one sample, not {}", samples);
  const auto add = [](const std::vector<double>& line, std::vector<double>& sums) {
    std::ranges::transform(sums, line, sums.begin(), std::plus<>());
  };
  const auto score_of_all = [&](const std::vector<std::vector<double>>& lines) {
    std::vector<double> sums(lines.front().size());
    for (const std::vector<double>& line : lines) add(line, sums);
    return score(sums);
  };
  const double difference = std::abs(score_of_all(system) - score_of_all(baseline));

  NumpyChoice choice(seed, static_cast<std::uint32_t>(system.size()));
  std::vector<double> scores, baseline_scores, differences;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    std::vector<double> sums(system.front().size()), baseline_sums(system.front().size());
    for (std::size_t i = 0; i < system.size(); ++i) {
      const std::uint32_t line = choice();
      add(system[line], sums);
      add(baseline[line], baseline_sums);
    }
    scores.push_back(score(sums));
    baseline_scores.push_back(score(baseline_sums));
    differences.push_back(std::abs(scores.back() - baseline_scores.back()));
  }
  // The differences minus their mean follow the distribution under the null hypothesis.
  const double mean =
      std::accumulate(differences.begin(), differences.end(), 0.0) / static_cast<double>(differences.size());
  const auto larger = std::ranges::count_if(differences, [&](double one) { return one - mean > difference; });
  return {IntervalOf(std::move(scores)), IntervalOf(std::move(baseline_scores)),
          static_cast<double>(larger + 1) / static_cast<double>(samples + 1)};
}

}  // namespace headlight
