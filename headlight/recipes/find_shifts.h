// Finds misaligned lines in parallel text.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

namespace headlight {

/// Features (8 bytes) for comparing a line with its translation.
struct LineTraits {
  std::uint16_t length = 0;  ///< 256 ln(1 + characters)
  std::uint16_t digits = 0;  ///< a hash of the numbers in the line, independent of their order; 0: none
  std::uint32_t words = 0;   ///< a bit for the first letters of each long word
};
LineTraits TraitsOf(std::string_view text);

/// A change of the alignment. From source line `line` (from 0) until the next shift, source line i corresponds to
/// target line i + offset. `line` is approximate, within a few lines.
struct Shift {
  std::int64_t line = 0;
  int offset = 0;
};

constexpr int kLargestOffset = 7;  ///< lines

/// Returns the most probable offsets of all lines, up to kLargestOffset. Each change of the offset has the probability
/// e^-30. Lengths, digits and words are weighted by their log-odds between aligned and distant pairs of lines in this
/// corpus. Needs 3 bytes of memory per line.
std::vector<Shift> FindShifts(const std::deque<LineTraits>& source, const std::deque<LineTraits>& target);

}  // namespace headlight
