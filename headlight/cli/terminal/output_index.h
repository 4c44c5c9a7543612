// The index of `headlight embed --index`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/scratch_folder.h"
#include "headlight/search/vector_index.h"

namespace headlight {

// With several ranks each has an index of its own vectors, and the first rank adds those of the others at the end.
class OutputIndex {
 public:
  // `model`: the folder of the model, whose vectors have `dimension` numbers. `faiss`: a second file that is written;
  // empty: none.
  OutputIndex(std::string model, std::string folder, std::string faiss, std::int64_t dimension);

  // True if the index has this item unchanged.
  bool Has(const IndexItem& item) const { return own_->Has(item) || (known_ && known_->Has(item)); }
  void Add(const IndexItem& item, std::span<const float> vector) { own_->Add(item, vector); }
  // Removes images whose files are gone from these folders, with a note. Only the first rank removes. Returns the
  // inputs without folders that had images in the index and are now empty or gone.
  std::vector<std::string> RemoveVanished(const std::vector<std::string>& inputs);
  // Adds all items of another index. Throws Error if it was made by another model.
  void AddFrom(const std::string& folder);

  // Must be the last call, on all ranks.
  void Finish();

 private:
  void AddOtherRanks();

  std::string model_, folder_, faiss_;
  std::string fingerprint_;
  std::optional<ScratchFolder> scratch_;
  std::optional<IndexBuilder> own_, known_;
};

}  // namespace headlight
