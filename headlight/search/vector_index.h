// A folder of vectors with names, to search among images and texts: exact, in files that are mapped into memory.
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

// A name for the weights of a model's folder, from the shape, the first 256 bytes and 256 bytes in the middle of each
// tensor: a model that was trained further has another, and so has one of other types.
HEADLIGHT_API std::string FingerprintOf(const std::string& folder);

// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API VectorIndex {
 public:
  // The files are mapped: nothing is read before a search. Throws Error naming the file and what is wrong with it.
  static VectorIndex Open(const std::string& folder);

  const IndexModel& model() const;
  std::int64_t size() const;  // of its items
  IndexItem Item(std::int64_t row) const;
  Tensor Vector(std::int64_t row) const;  // [dimension], of length 1

  struct Hit {
    std::int64_t row = 0;  ///< of the item
    float score = 0;       ///< the cosine of the item's vector and the query's
  };
  // The `top` items that are nearest to the vector [dimension], whatever its length, the nearest first and the first of
  // equals before others. All are compared. `progress`, where given, hears how many have been. Throws Error for a
  // vector of another size or without a direction.
  using Progress = std::function<void(std::int64_t done, std::int64_t all)>;
  std::vector<Hit> Search(std::span<const float> vector, std::int64_t top, const Progress& progress = {}) const;

 private:
  struct State;
  explicit VectorIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// Builds an index, or adds to one. Each of its files appears whole or not at all, so that what was added before a crash
// stays, and the same call goes on from there.
class HEADLIGHT_API IndexBuilder {
 public:
  // Makes the folder where there is none. Throws Error where it holds something else, and where the index is of
  // another model.
  IndexBuilder(const std::string& folder, const IndexModel& model);
  ~IndexBuilder();
  IndexBuilder(IndexBuilder&&) noexcept;
  IndexBuilder& operator=(IndexBuilder&&) noexcept;

  // True where the item is there as it is. An image that has changed since is not.
  bool Has(const IndexItem& item) const;
  // A new item, or one that has changed; `vector` [dimension] is brought to length 1. Throws Error for one without a
  // direction and for a name that is not UTF-8.
  void Add(const IndexItem& item, std::span<const float> vector);
  /// Removes the items for which `gone` is true, and returns how many there were. What was added is written before.
  std::int64_t RemoveIf(const std::function<bool(const IndexItem&)>& gone);
  // Writes what was added. Add does so by itself from time to time.
  void Flush();

  std::int64_t size() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headlight
