// The files of a VectorIndex: index.json, and parts with rows.
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

/// True if the folder has an index.json.
bool HasIndex(const std::string& folder);
IndexModel ReadIndexModel(const std::string& folder);
void WriteIndexModel(const std::string& folder, const IndexModel& model);

std::string PartPath(const std::string& folder, std::size_t part);
/// The number of parts. Throws Error if one of them is missing.
std::size_t CountParts(const std::string& folder);

/// A memory-mapped file of rows: "vectors" [rows, dimension], and "names", the concatenated JSON of the items, whose
/// ends are in "ends" [rows].
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

/// The rows of a file, or of one to be written.
struct IndexRows {
  std::vector<IndexItem> items;
  std::vector<float> vectors;  // [items, dimension]

  void Append(const IndexPart& part);
  void Set(std::int64_t row, const IndexItem& item, std::span<const float> vector);
  void Write(const std::string& path, std::int64_t dimension) const;
};

/// The vector normalized to length 1; errors begin with `name`. Throws Error if it has no direction.
std::vector<float> UnitVector(std::span<const float> vector, const std::string& name);

}  // namespace headlight
