// Where the vectors of `headlight embed --index` go.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/scratch_folder.h"
#include "headlight/search/vector_index.h"

namespace headlight {

// Of several ranks each but the first has an index of its own vectors, which the first adds to its index at the end.
class OutputIndex {
 public:
  // `model`: the folder of the model, whose vectors have `dimension` numbers. `faiss`: a file that is written, too,
  // unless it is empty.
  OutputIndex(std::string model, std::string folder, std::string faiss, std::int64_t dimension);

  // True for what is there as it is.
  bool Has(const IndexItem& item) const { return own_->Has(item) || (known_ && known_->Has(item)); }
  void Add(const IndexItem& item, std::span<const float> vector) { own_->Add(item, vector); }
  // Removes the images whose files are gone from these folders, on the first rank, with a note. Returns the inputs
  // without the folders that had images in the index and are empty or gone.
  std::vector<std::string> RemoveVanished(const std::vector<std::string>& inputs);
  // Adds all that another index has. Throws Error where that is of another model.
  void AddFrom(const std::string& folder);

  // The last call, of all ranks.
  void Finish();

 private:
  void AddOtherRanks();

  std::string model_, folder_, faiss_;
  std::string fingerprint_;
  std::optional<ScratchFolder> scratch_;
  std::optional<IndexBuilder> own_, known_;
};

}  // namespace headlight
