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

/// A fingerprint of the weights in a model's folder, from the shape, the first 256 bytes and 256 bytes in the middle of
/// each tensor. It changes if the model is trained further, or if its types change.
HEADLIGHT_API std::string FingerprintOf(const std::string& folder);

/// Immutable and cheap to copy; all methods are thread-safe.
class HEADLIGHT_API VectorIndex {
 public:
  /// Memory-maps the files; nothing is read before a search. Throws Error naming the file and what is wrong with it.
  static VectorIndex Open(const std::string& folder);

  const IndexModel& model() const;
  std::int64_t size() const;  // number of items
  IndexItem Item(std::int64_t row) const;
  Tensor Vector(std::int64_t row) const;  // [dimension], with length 1

  struct Hit {
    std::int64_t row = 0;  ///< of the item
    float score = 0;       ///< the cosine similarity of the item's vector and the query
  };
  /// The `top` items nearest to the vector [dimension] of any length, nearest first; ties go to the first item. The
  /// search is exhaustive. `progress`, if given, is called with the number of items compared. Throws Error for a vector
  /// of another size or without a direction.
  using Progress = std::function<void(std::int64_t done, std::int64_t all)>;
  std::vector<Hit> Search(std::span<const float> vector, std::int64_t top, const Progress& progress = {}) const;

 private:
  struct State;
  explicit VectorIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Builds an index, or adds to one. Files are written atomically, so that what was added before a crash is kept, and
/// building can be continued.
class HEADLIGHT_API IndexBuilder {
 public:
  /// Creates the folder if it does not exist. Throws Error if it contains something else, or an index of another model.
  IndexBuilder(const std::string& folder, const IndexModel& model);
  ~IndexBuilder();
  IndexBuilder(IndexBuilder&&) noexcept;
  IndexBuilder& operator=(IndexBuilder&&) noexcept;

  /// True if the unchanged item is in the index. An image file that was modified is not.
  bool Has(const IndexItem& item) const;
  /// Adds a new or a changed item; `vector` [dimension] is normalized. Throws Error for a vector without a direction
  /// and for a name that is not UTF-8.
  void Add(const IndexItem& item, std::span<const float> vector);
  /// Removes the items for which `gone` is true, and returns their number. Writes first what was added.
  std::int64_t RemoveIf(const std::function<bool(const IndexItem&)>& gone);
  /// Writes what was added. Add also does this regularly.
  void Flush();

  std::int64_t size() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headlight
