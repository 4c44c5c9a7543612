// Paired bootstrap resampling (Koehn, "Statistical Significance Tests for Machine Translation Evaluation", 2004), with
// the same samples and values as sacreBLEU 2.6.0.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// Generates the same random indices as NumPy's `default_rng(seed).choice(count, ...)` (PCG64; O'Neill, "PCG: A Family
/// of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation", 2014).
class NumpyChoice {
 public:
  /// `count` must be from 1 to 2^32 - 1.
  NumpyChoice(std::uint64_t seed, std::uint32_t count);

  std::uint32_t operator()();  ///< uniform in [0, count)

 private:
  std::uint32_t Next32();

  std::uint32_t count_;
  std::uint64_t high_ = 0, low_ = 0, increment_high_ = 0, increment_low_ = 0;
  std::uint32_t buffer_ = 0;
  bool has_buffer_ = false;
};

/// The mean and spread of the scores of bootstrap samples. Each sample has as many lines as the corpus.
struct BootstrapInterval {
  double mean = 0;
  double half_width = 0;  ///< half the width of the interval that contains 95% of the scores
};

struct PairedBootstrap {
  BootstrapInterval system, baseline;
  double p_value = 0;  ///< probability of a difference at least this large if both systems are equally good
};

inline constexpr std::int64_t kBootstrapSamples = 1000;
inline constexpr std::uint64_t kBootstrapSeed = 12345;

/// Compares two systems by per-line statistics, given in the same order. `score` computes a score from summed
/// statistics.
PairedBootstrap ComparePaired(const std::vector<std::vector<double>>& system,
                              const std::vector<std::vector<double>>& baseline,
                              const std::function<double(std::span<const double>)>& score,
                              std::int64_t samples = kBootstrapSamples, std::uint64_t seed = kBootstrapSeed);

}  // namespace headlight
