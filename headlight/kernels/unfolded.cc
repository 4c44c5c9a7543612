#include "headlight/kernels/unfolded.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "headlight/kernels/rows.h"

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
  ForRuns(row, to.rows, column, to.columns,
          [&](std::int64_t its_row, std::int64_t its_column, const T* elements, std::int64_t count) {
            T* const target = to.row(its_row) + its_column;
            const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
            if (elements == nullptr)
              std::memset(target, 0, bytes);
            else
              std::memcpy(target, elements, bytes);
          });
}

template <typename T>
void Unfolded<T>::LargestOfTaps(const std::int32_t* of_cells, std::int32_t* of_rows) const {
  struct OfColumns;
  std::vector<std::int64_t> first_line = {0};  // of each result, among the lines of all results
  std::int64_t widest = 0;
  for (std::size_t map = 0; map < results_.size(); ++map) {
    first_line.push_back(first_line.back() + results_[map].height);
    widest = std::max({widest, results_[map].width, grids_[map].width});
  }
  const auto work = [&](std::int64_t line, std::int32_t* of_columns) {
    const auto map = static_cast<std::size_t>(std::ranges::upper_bound(first_line, line) - first_line.begin()) - 1;
    const std::int64_t place_y = line - first_line[map], width = grids_[map].width, results = results_[map].width;
    std::fill_n(of_columns, width, 0);
    for (const std::int64_t offset : vertical_.offsets) {
      const std::int64_t y = place_y * vertical_.step + offset;
      if (y < 0 || y >= grids_[map].height) continue;
      const std::int32_t* const from = of_cells + first_[map] + y * width;
      for (std::int64_t x = 0; x < width; ++x) of_columns[x] = std::max(of_columns[x], from[x]);
    }
    std::int32_t* const to = of_rows + first_result_[map] + place_y * results;
    std::fill_n(to, results, 0);
    const std::int64_t step = horizontal_.step;
    for (const std::int64_t offset : horizontal_.offsets) {
      const std::int64_t begin = offset >= 0 ? 0 : (-offset + step - 1) / step;
      const std::int64_t end = offset >= width ? 0 : std::min(results, (width - 1 - offset) / step + 1);
      for (std::int64_t x = begin; x < end; ++x) to[x] = std::max(to[x], of_columns[x * step + offset]);
    }
  };
  ForRowChunks(first_line.back(), widest * std::ssize(horizontal_.offsets),
               [&](std::int64_t first, std::int64_t lines) {
                 auto* const of_columns = KeptScratch<OfColumns, std::int32_t>(widest);
                 for (std::int64_t line = first; line < first + lines; ++line) work(line, of_columns);
               });
}

template class Unfolded<float>;
template class Unfolded<double>;
template class Unfolded<std::uint16_t>;  // bfloat16

}  // namespace headlight::kernels
