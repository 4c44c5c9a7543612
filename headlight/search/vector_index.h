// A folder of vectors with names, for exact search among images and texts, in memory-mapped files.
//   const VectorIndex index = VectorIndex::Open("photos.index");
//   for (const VectorIndex::Hit& hit : index.Search(vector, 10)) fmt::print("{}\n", index.Item(hit.row).name);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/search/index_item.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// Returns a fingerprint of the weights in a model's folder. The fingerprint is computed from the name and shape of
/// each tensor, its first 256 bytes, and 256 bytes in its middle. Changes to other bytes are not detected.
HEADLIGHT_API std::string FingerprintOf(const std::string& folder);

/// An exact index of vectors. Immutable and cheap to copy. All methods are thread-safe.
class HEADLIGHT_API VectorIndex {
 public:
  /// Memory-maps the files. Their content is read during a search. Throws Error with the file and the reason if a file
  /// is invalid.
  static VectorIndex Open(const std::string& folder);

  const IndexModel& model() const;
  std::int64_t size() const;  ///< number of items
  IndexItem Item(std::int64_t row) const;
  Tensor Vector(std::int64_t row) const;  ///< returns a vector [dimension] of length 1

  struct Hit {
    std::int64_t row = 0;  ///< row of the item
    float score = 0;       ///< cosine similarity of the item's vector and the query
  };
  using Progress = std::function<void(std::int64_t done, std::int64_t all)>;
  /// Returns the `top` items nearest to the vector [dimension], nearest first. The vector may have any norm. If scores
  /// are equal, the first item ranks higher. The search is exhaustive. `progress`, if given, is called with the number
  /// of compared items. Throws Error if the vector has a different size, or if its norm is zero or not finite.
  std::vector<Hit> Search(std::span<const float> vector, std::int64_t top, const Progress& progress = {}) const;

 private:
  struct State;
  explicit VectorIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Builds an index, or adds to an index. Files are written atomically. After a crash, the written items are kept, and
/// building can be continued.
class HEADLIGHT_API IndexBuilder {
 public:
  /// Creates the folder if it does not exist. Throws Error if the folder contains other files, or an index of another
  /// model.
  IndexBuilder(const std::string& folder, const IndexModel& model);
  /// Does not write: call Flush after the last Add, or the items since the last Flush are lost.
  ~IndexBuilder();
  IndexBuilder(IndexBuilder&&) noexcept;
  IndexBuilder& operator=(IndexBuilder&&) noexcept;

  /// Returns true if the index contains the unchanged item. If an image file was modified, its item counts as changed.
  bool Has(const IndexItem& item) const;
  /// Adds a new or changed item. `vector` [dimension] is normalized. Throws Error if the vector's length is zero or not
  /// finite, or if the name is not UTF-8.
  void Add(const IndexItem& item, std::span<const float> vector);
  /// Removes the items for which `gone` is true, and returns their number. Calls Flush first.
  std::int64_t RemoveIf(const std::function<bool(const IndexItem&)>& gone);
  /// Writes the added items. Add calls it once a minute and for each full file, but not for the last items.
  void Flush();

  std::int64_t size() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headlight
