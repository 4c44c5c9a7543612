// Reads and writes the files of a VectorIndex: index.json, and numbered files with rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/matrix.h"
#include "headlight/io/safetensors.h"
#include "headlight/search/index_item.h"

namespace headlight {

/// Returns true if the folder contains an index.json.
bool HasIndex(const std::string& folder);
IndexModel ReadIndexModel(const std::string& folder);
void WriteIndexModel(const std::string& folder, const IndexModel& model);

std::string PartPath(const std::string& folder, std::size_t part);
/// Returns the number of files with rows. Throws Error if a file is missing.
std::size_t CountParts(const std::string& folder);

/// A memory-mapped file of rows. It contains "vectors" [rows, dimension]; "names", the concatenated JSON of the items;
/// and "ends" [rows], the end of each item in "names".
class IndexPart {
 public:
  IndexPart(const std::string& path, std::int64_t dimension);

  const std::string& path() const { return file_.path(); }
  std::int64_t rows() const { return vectors_.rows; }
  Matrix<const float> vectors() const { return vectors_; }
  IndexItem Item(std::int64_t row) const;

 private:
  Safetensors file_;
  Matrix<const float> vectors_{};
  const std::int64_t* ends_ = nullptr;
  std::string_view names_;
};

/// The rows of a file, in memory.
struct IndexRows {
  std::vector<IndexItem> items;
  std::vector<float> vectors;  // [items, dimension]

  void Append(const IndexPart& part);
  void Set(std::int64_t row, const IndexItem& item, std::span<const float> vector);
  void Write(const std::string& path, std::int64_t dimension) const;
};

/// Returns the vector normalized to length 1. Throws Error if the vector's length is zero or not finite. The error
/// message begins with `name`.
std::vector<float> UnitVector(std::span<const float> vector, const std::string& name);

}  // namespace headlight
