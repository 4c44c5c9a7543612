// Writes the index of `headlight embed --index`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/scratch_folder.h"
#include "headlight/search/vector_index.h"

namespace headlight {

// If there are several ranks, each rank writes an index of the vectors that it computed. At the end, the first rank
// adds the vectors of the other ranks.
class OutputIndex {
 public:
  // `model` is the model's folder, and `dimension` is the size of its vectors. `faiss` is the path of an additional
  // Faiss index. If it is empty, no Faiss index is written.
  OutputIndex(std::string model, std::string folder, std::string faiss, std::int64_t dimension);

  // Returns true if the index already contains this item and the item has not changed.
  bool Has(const IndexItem& item) const { return own_->Has(item) || (known_ && known_->Has(item)); }
  void Add(const IndexItem& item, std::span<const float> vector) { own_->Add(item, vector); }
  // Removes images from the index if their files no longer exist in these folders, and prints a note. Only the first
  // rank removes images. Returns the inputs, except folders that had images in the index and are now empty or missing.
  std::vector<std::string> RemoveVanished(const std::vector<std::string>& inputs);
  // Adds all items of another index. Throws Error if another model created it.
  void AddFrom(const std::string& folder);

  // Completes the index. Must be the last call, and must be called on all ranks.
  void Finish();

 private:
  void AddOtherRanks();

  std::string model_, folder_, faiss_;
  std::string fingerprint_;
  std::optional<ScratchFolder> scratch_;
  std::optional<IndexBuilder> own_, known_;
};

}  // namespace headlight
