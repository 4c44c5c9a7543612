#include "headlight/hub/cache.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/hub/repository.h"

namespace headlight {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "models--", kSeparator = "--";

// Returns a folder's entries, sorted by name. Returns an empty list if the folder cannot be read.
std::vector<fs::path> Entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  std::ranges::sort(entries);
  return entries;
}

// Returns the commit that a file in refs/ contains, or "" if there is no such file.
std::string CommitIn(const fs::path& ref) {
  std::error_code ignored;
  if (!fs::is_regular_file(ref, ignored) || fs::file_size(ref, ignored) > 256) return "";
  std::string commit = ReadFile(ref.string(), 256);
  while (!commit.empty() && (commit.back() == '\n' || commit.back() == ' ')) commit.pop_back();
  return IsInnerPath(commit) && commit.find('/') == commit.npos ? commit : "";
}

bool IsFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// Calls each(path, status) for all files in a folder and its subfolders. The status of a link is the status of its
// target.
template <typename Each>
void ForEachFile(const fs::path& folder, const Each& each) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    struct stat status {};
    if (stat(at->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) each(at->path(), status);
  }
}

// Returns the model's name, ORG/NAME, for a folder models--ORG--NAME.
std::optional<std::string> ModelIn(const fs::path& folder) {
  std::string name = folder.filename().string();
  if (!name.starts_with(kPrefix) || !IsFolder(folder)) return std::nullopt;
  name.erase(0, kPrefix.size());
  if (const std::size_t at = name.find(kSeparator); at != name.npos) name.replace(at, kSeparator.size(), "/");
  return IsModelName(name) ? std::optional(name) : std::nullopt;
}

CachedModel Described(const fs::path& folder, const std::string& name) {
  CachedModel model{.name = name, .revisions = {}};
  const auto count = [&](const fs::path&, const struct stat& status) {
    model.bytes += static_cast<std::uint64_t>(status.st_size);
    model.last_used = std::max(model.last_used, status.st_atime);
  };
  ForEachFile(folder / "blobs", count);
  std::vector<std::pair<std::string, std::string>> refs;  // pairs of name and commit
  ForEachFile(folder / "refs", [&](const fs::path& ref, const struct stat&) {
    refs.emplace_back(ref.lexically_relative(folder / "refs").string(), CommitIn(ref));
  });
  std::ranges::sort(refs);
  for (const fs::path& snapshot : Entries(folder / "snapshots")) {
    CachedRevision revision{.commit = snapshot.filename().string(), .names = {}};
    ForEachFile(snapshot, [&](const fs::path& file, const struct stat& status) {
      revision.bytes += static_cast<std::uint64_t>(status.st_size);
      std::error_code ignored;
      if (!fs::is_symlink(file, ignored)) count(file, status);
    });
    for (const auto& [ref, commit] : refs)
      if (commit == revision.commit) revision.names.push_back(ref);
    model.revisions.push_back(std::move(revision));
  }
  return model;
}

}  // namespace

std::string RepositoryFolder(const std::string& cache, const std::string& model) {
  CheckModelName(model);
  std::string name = model;
  if (const std::size_t slash = name.find('/'); slash != name.npos) name.replace(slash, 1, kSeparator);
  return fmt::format("{}/{}{}", cache, kPrefix, name);
}

std::string CachedFolder(const std::string& cache, const std::string& model, const std::string& revision) {
  const fs::path folder = RepositoryFolder(cache, model);
  Check(revision.empty() || IsInnerPath(revision), "`revision` is not the name of a branch, a tag or a commit");
  const std::string name = revision.empty() ? "main" : revision, commit = CommitIn(folder / "refs" / name);
  const fs::path snapshots = folder / "snapshots";
  if (!commit.empty() && IsFolder(snapshots / commit)) return snapshots / commit;
  if (!revision.empty()) return IsFolder(snapshots / revision) ? (snapshots / revision).string() : "";
  const std::vector<fs::path> all = Entries(snapshots);
  return all.size() == 1 && IsFolder(all.front()) ? all.front().string() : "";
}

std::vector<CachedModel> CachedModels(const std::string& cache) {
  std::vector<CachedModel> models;
  for (const fs::path& folder : Entries(cache))
    if (const std::optional<std::string> name = ModelIn(folder)) models.push_back(Described(folder, *name));
  return models;
}

std::uint64_t RemoveCachedModel(const std::string& cache, const std::string& model) {
  const fs::path folder = RepositoryFolder(cache, model);
  Check(IsFolder(folder), "{}: is not in the cache, {}", model, cache);
  const std::uint64_t bytes = Described(folder, model).bytes;
  // References to the model are removed first, so that a partly removed model cannot be found.
  for (const fs::path& part : {folder / "refs", folder / "snapshots", folder}) {
    std::error_code error;
    fs::remove_all(part, error);
    Check(!error, "{}: cannot be removed: {}", part.string(), error.message());
  }
  return bytes;
}

}  // namespace headlight
