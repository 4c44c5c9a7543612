// The left-hand side of a convolution's products. Each row belongs to a cell of the result, and has the inputs of the
// cell's taps. Products read it from the feature maps in small blocks; it is never stored as a whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/grid.h"
#include "headlight/base/matrix.h"

namespace headlight::kernels {

/// Feature maps as packed rows: the cells of each map in row-major order, map by map, [total cells, channels].
template <typename T>
struct MapRows {
  Matrix<T> rows;
  std::span<const Grid> grids;
};

/// One axis of a convolution. At tap t, cell p of the result reads the map at p * step + offsets[t], or 0 outside the
/// map.
struct UnfoldedAxis {
  std::int64_t step = 1;
  std::vector<std::int64_t> offsets;
};

template <typename T>
class Unfolded {
 public:
  Unfolded(const MapRows<const T>& maps, std::span<const Grid> results, UnfoldedAxis vertical, UnfoldedAxis horizontal);

  std::int64_t rows() const { return rows_; }        ///< number of cells of all results
  std::int64_t columns() const { return columns_; }  ///< number of channels of all taps; taps are in row-major order
  const Matrix<const T>& maps() const { return maps_; }
  /// Returns true if the unfolded matrix equals the rows of the maps.
  bool plain() const { return plain_; }

  /// Calls body(row, column, elements, count) for the runs of adjacent elements of `rows` rows from `first_row` and
  /// `columns` columns from `first_column`. `row` and `column` count from the first ones. `elements` points into the
  /// maps. It is null for taps outside a map, which are zeros.
  template <class Body>
  void ForRuns(std::int64_t first_row, std::int64_t rows, std::int64_t first_column, std::int64_t columns,
               const Body& body) const;

  /// Copies rows [row, row + to.rows) and columns [column, column + to.columns) to `to`.
  void Read(std::int64_t row, std::int64_t column, const Matrix<T>& to) const;
  /// Returns rows [row, row + rows) and columns [column, column + columns), as a view of the maps if possible.
  /// Otherwise, copies them to `scratch`.
  Matrix<const T> View(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                       T* scratch) const {
    if (plain_) return maps_.Rows(row, rows).Columns(column, columns);
    const Matrix<T> block{scratch, rows, columns, columns};
    Read(row, column, block);
    return block;
  }

  /// Writes the largest value of each row's taps to of_rows [rows()], given a value of each cell of the maps. Values
  /// must be at least 0, the value of taps outside a map.
  void LargestOfTaps(const std::int32_t* of_cells, std::int32_t* of_rows) const;

  /// Calls body(index of the map, y, x) for the cells of rows [row, row + rows).
  template <class Body>
  void ForCells(std::int64_t row, std::int64_t rows, const Body& body) const {
    if (rows == 0) return;
    std::size_t map = MapOf(row);
    const std::int64_t cell = row - first_result_[map];
    for (std::int64_t y = cell / results_[map].width, x = cell % results_[map].width;;) {
      body(map, y, x);
      if (--rows == 0) return;
      if (++x < results_[map].width) continue;
      x = 0;
      if (++y < results_[map].height) continue;
      y = 0;
      do ++map;
      while (results_[map].cells() == 0);
    }
  }

 private:
  std::size_t MapOf(std::int64_t row) const;

  Matrix<const T> maps_;
  std::vector<Grid> grids_, results_;
  std::vector<std::int64_t> first_, first_result_;  // the first row of each map and of each result
  UnfoldedAxis vertical_, horizontal_;
  std::int64_t rows_ = 0, columns_ = 0;
  bool adjacent_ = false;  // if true, the taps of a row are adjacent in memory
  bool plain_ = false;
};

template <typename T>
template <class Body>
void Unfolded<T>::ForRuns(std::int64_t first_row, std::int64_t rows, std::int64_t first_column, std::int64_t columns,
                          const Body& body) const {
  const std::int64_t channels = maps_.columns, taps = std::ssize(horizontal_.offsets), line = taps * channels;
  // Visits one row of taps at a time: elements [begin, end) of the row of taps.
  for (std::int64_t done = 0; done < columns;) {
    const std::int64_t tap_row = (first_column + done) / line, begin = (first_column + done) % line;
    const std::int64_t end = std::min(line, begin + columns - done);
    const std::int64_t vertical = vertical_.offsets[static_cast<std::size_t>(tap_row)];
    std::int64_t row = 0;
    const auto run = [&](const T* from, std::int64_t first, std::int64_t last) {
      if (first < last) body(row, done + first - begin, from, last - first);
    };
    ForCells(first_row, rows, [&](std::size_t map, std::int64_t place_y, std::int64_t place_x) {
      const Grid& grid = grids_[map];
      const std::int64_t y = place_y * vertical_.step + vertical, x = place_x * horizontal_.step;
      if (y < 0 || y >= grid.height) {
        run(nullptr, begin, end);
      } else if (adjacent_) {
        const std::int64_t first_x = x + horizontal_.offsets.front();
        const std::int64_t first = std::clamp(-first_x * channels, begin, end);
        const std::int64_t last = std::clamp((grid.width - first_x) * channels, first, end);
        run(nullptr, begin, first);
        run(maps_.data + (first_[map] + y * grid.width + first_x) * channels + first, first, last);
        run(nullptr, last, end);
      } else {
        for (std::int64_t tap = begin / channels; tap * channels < end; ++tap) {
          const std::int64_t first = std::max(begin, tap * channels), last = std::min(end, (tap + 1) * channels);
          const std::int64_t at = x + horizontal_.offsets[static_cast<std::size_t>(tap)];
          const bool outside = at < 0 || at >= grid.width;
          run(outside ? nullptr : maps_.row(first_[map] + y * grid.width + at) + (first - tap * channels), first, last);
        }
      }
      ++row;
    });
    done += end - begin;
  }
}

/// Some rows and columns of an Unfolded, with the members of Matrix that the gradient of a weight requires.
template <typename T>
struct UnfoldedPart {
  const Unfolded<T>* whole = nullptr;
  std::int64_t first_row = 0, first_column = 0, rows = 0, columns = 0;

  UnfoldedPart Rows(std::int64_t begin, std::int64_t count) const {
    return {whole, first_row + begin, first_column, count, columns};
  }
  UnfoldedPart Columns(std::int64_t begin, std::int64_t count) const {
    return {whole, first_row, first_column + begin, rows, count};
  }
  void Read(const Matrix<T>& to) const { whole->Read(first_row, first_column, to); }
};

}  // namespace headlight::kernels
