#include "headlight/cli/terminal/output_index.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/ranks.h"
#include "headlight/cli/commands/shard.h"
#include "headlight/cli/program/mpi_ranks.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/image/image_files.h"
#include "headlight/search/faiss_index.h"
#include "headlight/search/index_files.h"
#include "headlight/text/printable.h"

namespace headlight {
namespace {

bool HasImages(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::recursive_directory_iterator files(folder, error);
  return std::any_of(begin(files), end(files),
                     [](const fs::directory_entry& entry) { return IsImagePath(entry.path().string()); });
}

}  // namespace

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
  if (HasIndex(folder_)) known_.emplace(folder_, of);  // all ranks read the index from a shared disk
}

std::vector<std::string> OutputIndex::RemoveVanished(const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  std::string emptied(inputs.size(), '0');  // '1' for each emptied input; equal on all ranks
  if (IsFirstRank()) {
    std::vector<std::string> folders;
    for (const std::string& input : inputs) {
      std::error_code ignored;
      const bool may_be_folder = fs::is_directory(input, ignored) || !fs::exists(input, ignored);
      folders.push_back(may_be_folder ? (fs::absolute(input) / "").lexically_normal().string() : "");
    }
    const std::int64_t removed = own_->RemoveIf([&](const IndexItem& item) {
      if (!item.image) return false;
      bool inside = false;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (folders[i].empty() || !item.name.starts_with(folders[i])) continue;
        inside = true;
        emptied[i] = '1';
      }
      if (!inside || Exists(item.name)) return false;
      const std::size_t number = item.name.rfind('#');  // position of the image number in the name of an IDX image
      return number == std::string::npos || !Exists(item.name.substr(0, number));
    });
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (emptied[i] == '1' && HasImages(inputs[i])) emptied[i] = '0';
    if (removed > 0) Note("{}: {} removed: the files are gone", folder_, Counted(removed, "item"));
  }
  if (JoinedRanks() != nullptr) emptied = Broadcast(*JoinedRanks(), emptied);
  std::vector<std::string> left;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (emptied[i] == '0') left.push_back(inputs[i]);
  return left;
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
  Note("{}: {}", folder_, Counted(own_->size(), "item"));
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
