#include "headlight/cli/terminal/output_index.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/commands/shard.h"
#include "headlight/cli/program/mpi_ranks.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/search/faiss_index.h"
#include "headlight/search/index_files.h"
#include "headlight/text/printable.h"

namespace headlight {

OutputIndex::OutputIndex(std::string model, std::string folder, std::string faiss, std::int64_t dimension)
    : model_(std::move(model)),
      folder_(std::move(folder)),
      faiss_(std::move(faiss)),
      fingerprint_(FingerprintOf(model_)) {
  const IndexModel of{model_, fingerprint_, dimension};
  if (IsFirstRank()) {
    own_.emplace(folder_, of);
    return;
  }
  scratch_.emplace();
  own_.emplace(scratch_->File("index"), of);
  if (HasIndex(folder_)) known_.emplace(folder_, of);  // on a disk that ranks share
}

void OutputIndex::RemoveVanished(const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  if (!IsFirstRank()) return;
  std::vector<std::string> folders;
  for (const std::string& input : inputs)
    if (fs::is_directory(input)) folders.push_back((fs::absolute(input) / "").lexically_normal().string());
  const std::int64_t removed = own_->RemoveIf([&](const IndexItem& item) {
    const auto holds = [&](const std::string& folder) { return item.name.starts_with(folder); };
    if (!item.image || std::ranges::none_of(folders, holds) || Exists(item.name)) return false;
    const std::size_t number = item.name.rfind('#');  // of an image of an IDX file
    return number == std::string::npos || !Exists(item.name.substr(0, number));
  });
  if (removed > 0) Note("{}: {} items were removed: their files are gone", folder_, removed);
}

void OutputIndex::AddFrom(const std::string& folder) {
  const VectorIndex other = VectorIndex::Open(folder);
  Check(other.model().fingerprint == fingerprint_, "{}: is an index of another model, {}", folder,
        other.model().folder);
  for (std::int64_t row = 0; row < other.size(); ++row)
    if (const IndexItem item = other.Item(row); !own_->Has(item)) own_->Add(item, other.Vector(row).span<float>());
}

void OutputIndex::Finish() {
  own_->Flush();
  if (JoinedRanks() != nullptr) AddOtherRanks();
  if (!IsFirstRank()) return;
  Note("{}: {} items", folder_, own_->size());
  if (faiss_.empty()) return;
  const VectorIndex all = VectorIndex::Open(folder_);
  WriteFaiss(all, faiss_);
  for (std::int64_t row = 0; row < all.size(); ++row) WriteResult(InRow(all.Item(row).name) + "\n");
}

void OutputIndex::AddOtherRanks() {
  const std::string folder = scratch_ ? scratch_->File("index") : "";
  SendParts(
      *JoinedRanks(), scratch_ ? CountParts(folder) : 0,
      [&](std::size_t part) { return ReadFile(PartPath(folder, part)); },
      [&](const std::string& part) {
        const ScratchFolder one;
        WriteFile(one.File("index.json"), ReadFile(folder_ + "/index.json"));
        WriteFile(PartPath(one.File(""), 0), part);
        AddFrom(one.File(""));
      });
  own_->Flush();
}

}  // namespace headlight
