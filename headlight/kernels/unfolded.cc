#include "headlight/kernels/unfolded.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headlight::kernels {
namespace {

std::vector<std::int64_t> FirstRows(std::span<const Grid> grids) {
  std::vector<std::int64_t> first;
  std::int64_t row = 0;
  for (const Grid& grid : grids) {
    first.push_back(row);
    row += grid.cells();
  }
  first.push_back(row);
  return first;
}

}  // namespace

template <typename T>
Unfolded<T>::Unfolded(const MapRows<const T>& maps, std::span<const Grid> results, UnfoldedAxis vertical,
                      UnfoldedAxis horizontal)
    : maps_(maps.rows),
      grids_(maps.grids.begin(), maps.grids.end()),
      results_(results.begin(), results.end()),
      first_(FirstRows(maps.grids)),
      first_result_(FirstRows(results)),
      vertical_(std::move(vertical)),
      horizontal_(std::move(horizontal)),
      rows_(first_result_.back()),
      columns_(std::ssize(vertical_.offsets) * std::ssize(horizontal_.offsets) * maps_.columns) {
  adjacent_ = maps_.stride == maps_.columns;
  for (std::size_t tap = 1; tap < horizontal_.offsets.size(); ++tap)
    adjacent_ = adjacent_ && horizontal_.offsets[tap] == horizontal_.offsets[tap - 1] + 1;
  const auto unmoved = [](const UnfoldedAxis& axis) {
    return axis.step == 1 && axis.offsets.size() == 1 && axis.offsets.front() == 0;
  };
  plain_ = unmoved(vertical_) && unmoved(horizontal_) && grids_ == results_;
}

template <typename T>
std::size_t Unfolded<T>::MapOf(std::int64_t row) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(first_result_, row) - first_result_.begin()) - 1;
}

template <typename T>
void Unfolded<T>::Read(std::int64_t row, std::int64_t column, const Matrix<T>& to) const {
  const std::int64_t channels = maps_.columns, taps = std::ssize(horizontal_.offsets), line = taps * channels;
  // Copies one row of taps at a time: elements [begin, end) of the row of taps.
  for (std::int64_t done = 0; done < to.columns;) {
    const std::int64_t tap_row = (column + done) / line, begin = (column + done) % line;
    const std::int64_t end = std::min(line, begin + to.columns - done);
    const std::int64_t vertical = vertical_.offsets[static_cast<std::size_t>(tap_row)];
    T* target = to.data + done;
    const auto copy = [&](const T* from, std::int64_t first, std::int64_t last) {
      if (first < last) std::memcpy(target + (first - begin), from, static_cast<std::size_t>(last - first) * sizeof(T));
    };
    const auto clear = [&](std::int64_t first, std::int64_t last) {
      if (first < last) std::memset(target + (first - begin), 0, static_cast<std::size_t>(last - first) * sizeof(T));
    };
    ForCells(row, to.rows, [&](std::size_t map, std::int64_t place_y, std::int64_t place_x) {
      const Grid& grid = grids_[map];
      const std::int64_t y = place_y * vertical_.step + vertical, x = place_x * horizontal_.step;
      if (y < 0 || y >= grid.height) {
        clear(begin, end);
      } else if (adjacent_) {
        const std::int64_t first_x = x + horizontal_.offsets.front();
        const std::int64_t first = std::clamp(-first_x * channels, begin, end);
        const std::int64_t last = std::clamp((grid.width - first_x) * channels, first, end);
        clear(begin, first);
        copy(maps_.data + (first_[map] + y * grid.width + first_x) * channels + first, first, last);
        clear(last, end);
      } else {
        for (std::int64_t tap = begin / channels; tap * channels < end; ++tap) {
          const std::int64_t first = std::max(begin, tap * channels), last = std::min(end, (tap + 1) * channels);
          const std::int64_t at = x + horizontal_.offsets[static_cast<std::size_t>(tap)];
          if (at < 0 || at >= grid.width)
            clear(first, last);
          else
            copy(maps_.row(first_[map] + y * grid.width + at) + (first - tap * channels), first, last);
        }
      }
      target += to.stride;
    });
    done += end - begin;
  }
}

template class Unfolded<float>;
template class Unfolded<double>;
template class Unfolded<std::uint16_t>;  // bfloat16

}  // namespace headlight::kernels
