#include "headlight/protein/sequence_alignment.h"

#include <algorithm>
#include <array>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

// The lower triangle of BLOSUM62, in the order of residue types (Henikoff and Henikoff, "Amino acid substitution
// matrices from protein blocks", 1992).
constexpr std::array<std::int8_t, 210> kBlosum62 = {
    4,                                                                          // A
    -1, 5,                                                                      // R
    -2, 0,  6,                                                                  // N
    -2, -2, 1,  6,                                                              // D
    0,  -3, -3, -3, 9,                                                          // C
    -1, 1,  0,  0,  -3, 5,                                                      // Q
    -1, 0,  0,  2,  -4, 2,  5,                                                  // E
    0,  -2, 0,  -1, -3, -2, -2, 6,                                              // G
    -2, 0,  1,  -1, -3, 0,  0,  -2, 8,                                          // H
    -1, -3, -3, -3, -1, -3, -3, -4, -3, 4,                                      // I
    -1, -2, -3, -4, -1, -2, -3, -4, -3, 2,  4,                                  // L
    -1, 2,  0,  -1, -3, 1,  1,  -2, -1, -3, -2, 5,                              // K
    -1, -1, -2, -3, -1, 0,  -2, -3, -2, 1,  2,  -1, 5,                          // M
    -2, -3, -3, -3, -2, -3, -3, -3, -1, 0,  0,  -3, 0,  6,                      // F
    -1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4, 7,                  // P
    1,  -1, 1,  0,  -1, 0,  0,  0,  -1, -2, -2, 0,  -1, -2, -1, 4,              // S
    0,  -1, 0,  -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1, 1,  5,          // T
    -3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1, 1,  -4, -3, -2, 11,     // W
    -2, -2, -2, -3, -2, -1, -2, -3, 2,  -1, -1, -2, -1, 3,  -3, -2, -2, 2,  7,  // Y
    0,  -3, -3, -3, -1, -2, -2, -3, -3, 3,  1,  -2, 1,  -1, -2, -2, 0,  -3, -1, 4};

int Similarity(std::uint8_t a, std::uint8_t b) {
  const int low = std::min(a, b), high = std::max(a, b);
  return high >= kUnknownResidue ? -1 : kBlosum62[static_cast<std::size_t>(high * (high + 1) / 2 + low)];
}

// The traceback of a cell. The two low bits are the last step of its best score. The other bits are set if a gap that
// ends at the cell extends a previous gap.
enum Step : std::uint8_t {
  begins = 0,
  pair = 1,
  skips_first = 2,
  skips_second = 3,
  longer_first = 4,
  longer_second = 8
};

}  // namespace

LocalAlignment AlignLocally(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second) {
  constexpr int kOpen = 12, kExtend = 1;  // the costs of the first residue of a gap, and of each further residue
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const std::size_t rows = first.size(), columns = second.size();
  Check(columns == 0 || static_cast<std::int64_t>(rows) <= kMost / static_cast<std::int64_t>(columns),
        "sequences of {} and {} residues are too long to be aligned", rows, columns);
  std::vector<std::uint8_t> steps(rows * columns);
  constexpr int kNever = -(1 << 30);
  // The best scores in the previous row, and the best scores that end with a gap in `second`.
  std::vector<int> best(columns + 1), gap_above(columns + 1, kNever);
  LocalAlignment alignment;
  std::size_t last_row = 0, last_column = 0;  // one past the last aligned residue
  for (std::size_t i = 0; i < rows; ++i) {
    int diagonal = 0, gap_left = kNever;
    for (std::size_t j = 0; j < columns; ++j) {
      std::uint8_t& step = steps[i * columns + j];
      const auto extend = [&](int& gap, int open, Step longer) {
        if (gap - kExtend > open - kOpen) step |= longer;
        gap = std::max(gap - kExtend, open - kOpen);
      };
      extend(gap_above[j + 1], best[j + 1], longer_first);
      extend(gap_left, best[j], longer_second);
      int score = 0;
      std::uint8_t end = begins;
      const auto take = [&](int other, Step its) {
        if (other <= score) return;
        score = other;
        end = its;
      };
      take(diagonal + Similarity(first[i], second[j]), pair);
      take(gap_above[j + 1], skips_first);
      take(gap_left, skips_second);
      step |= end;
      diagonal = std::exchange(best[j + 1], score);
      if (score <= alignment.score) continue;
      alignment.score = score;
      last_row = i + 1;
      last_column = j + 1;
    }
  }
  alignment.partners.assign(rows, -1);
  std::uint8_t state = pair;  // pair, or the step of the current gap
  for (std::size_t i = last_row, j = last_column; i > 0 && j > 0;) {
    const std::uint8_t step = steps[(i - 1) * columns + j - 1];
    if (state == pair) {
      const std::uint8_t end = step & 3;
      if (end == begins) break;
      if (end != pair) {
        state = end;
        continue;
      }
      alignment.partners[--i] = static_cast<std::int32_t>(--j);
    } else if (state == skips_first) {
      if ((step & longer_first) == 0) state = pair;
      --i;
    } else {
      if ((step & longer_second) == 0) state = pair;
      --j;
    }
  }
  return alignment;
}

}  // namespace headlight
