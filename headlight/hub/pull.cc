#include "headlight/hub/pull.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/hub/blob.h"
#include "headlight/hub/cache.h"
#include "headlight/hub/http.h"
#include "headlight/hub/repository.h"

namespace headlight {
namespace fs = std::filesystem;
namespace {

void CreateFolders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  Check(!error, "{}: cannot create the folder: {}", folder.string(), error.message());
}

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// Formats a size, such as "1.5 GB".
std::string Shown(std::uint64_t bytes) { return fmt::format("{:.4g} GB", static_cast<double>(bytes) / 1e9); }

// Makes `link` a relative link to the blob, or a copy of the blob if the file system has no symbolic links.
void Link(const fs::path& blob, const fs::path& link) {
  CreateFolders(link.parent_path());
  const fs::path target = blob.lexically_relative(link.parent_path());
  std::error_code error, ignored;
  fs::create_symlink(target, link, error);
  if (error == std::errc::file_exists) {
    if (IsFile(link)) return;   // another process created the file first
    fs::remove(link, ignored);  // removes a link to a missing blob
    fs::create_symlink(target, link, error);
  }
  if (error) LinkOrCopy(blob.string(), link.string());
}

class Pull {
 public:
  Pull(const PullRequest& request, const HubOptions& hub, const PullProgress& progress)
      : request_(request),
        hub_(hub),
        progress_(progress),
        folder_(RepositoryFolder(hub.cache, request.model)),
        locks_(fs::path(hub.cache) / ".locks" / folder_.filename()),
        client_(hub, [this] { Report(); }) {}

  PulledModel Run() {
    const Repository repository = ReadRepository(client_, hub_.endpoint, request_.model, request_.revision);
    const std::vector<std::string> wanted = WantedFiles(repository, request_.model, request_.include);
    const fs::path snapshot = folder_ / "snapshots" / repository.commit;
    std::vector<RemoteFile> missing;
    for (const std::string& path : wanted)
      if (!IsFile(snapshot / path))
        missing.push_back(ReadRemoteFile(client_, hub_.endpoint, request_.model, repository.commit, path));
    // Downloads small files first, so that an interrupted download leaves useful files.
    std::ranges::stable_sort(missing, {}, &RemoteFile::size);
    for (const fs::path& folder : {folder_ / "blobs", folder_ / "refs", snapshot, locks_}) CreateFolders(folder);
    CheckSpace(missing);
    for (const RemoteFile& file : missing) {
      Download(file);
      Link(folder_ / "blobs" / file.hash, snapshot / file.path);
    }
    if (request_.revision != repository.commit) WriteRef(repository.commit);
    return {.folder = snapshot.string(), .files = wanted.size(), .downloaded = downloaded_};
  }

 private:
  void Report() const {
    if (progress_) progress_(done_, total_);
  }

  void CheckSpace(const std::vector<RemoteFile>& files) {
    std::uint64_t needed = 0;
    for (const RemoteFile& file : files) {
      Check(file.size < (std::uint64_t{1} << 62) - total_, "{}: the files have more than 2^62 bytes", request_.model);
      total_ += file.size;
      const fs::path blob = folder_ / "blobs" / file.hash;
      std::error_code error;
      const std::uintmax_t there = fs::file_size(IsFile(blob) ? blob : fs::path(blob.string() + ".incomplete"), error);
      if (error || there < file.size) needed += file.size - (error ? 0 : there);
    }
    struct statvfs disk {};
    if (statvfs(folder_.c_str(), &disk) != 0) return;
    const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    Check(needed <= free, "{}: needs {} more on the disk of {}, which has {} free", request_.model, Shown(needed),
          hub_.cache, Shown(free));
  }

  void Download(const RemoteFile& file) {
    const std::string subject = fmt::format("{}: {}", request_.model, file.path);
    const FileLock lock((locks_ / (file.hash + ".lock")).string(),
                        [this] { client_.Pause(std::chrono::milliseconds(20)); });
    const fs::path path = folder_ / "blobs" / file.hash;
    const std::uint64_t before = done_;
    if (!IsFile(path)) {
      IncompleteBlob blob(path.string(), file.size);
      const bool continued = blob.done() > 0;
      Fetch(file, subject, blob, before);
      // The incomplete file may be damaged, for example after a power failure.
      if (continued && !blob.HasHash(file.hash)) {
        blob.Discard();
        Fetch(file, subject, blob, before);
      }
      if (!blob.HasHash(file.hash)) {
        blob.Discard();
        Fail("{}: the content that came does not have the hash {}", subject, file.hash);
      }
      blob.Commit();
    }
    done_ = before + file.size;
  }

  // Downloads the missing bytes of the file. `before` is the total size of the preceding files.
  void Fetch(const RemoteFile& file, const std::string& subject, IncompleteBlob& blob, std::uint64_t before) {
    done_ = before + blob.done();
    if (blob.done() == file.size) return;
    client_.Send({.url = file.url, .subject = subject, .size = file.size, .from = blob.done()},
                 [&](std::uint64_t offset, std::string_view bytes) {
                   blob.Write(offset, bytes);
                   downloaded_ += bytes.size();
                   done_ = before + blob.done();
                 });
  }

  void WriteRef(const std::string& commit) const {
    const fs::path ref = folder_ / "refs" / request_.revision;
    CreateFolders(ref.parent_path());
    WriteFile(ref.string(), commit);
  }

  const PullRequest& request_;
  const HubOptions& hub_;
  const PullProgress& progress_;
  const fs::path folder_, locks_;
  HttpClient client_;
  std::uint64_t done_ = 0, total_ = 0, downloaded_ = 0;  // bytes
};

}  // namespace

PulledModel PullModel(const PullRequest& request, const HubOptions& hub, const PullProgress& progress) {
  CheckModelName(request.model);
  Check(IsInnerPath(request.revision), "`revision` is not the name of a branch, a tag or a commit");
  Check(!hub.cache.empty(), "`cache` must name a folder");
  if (!hub.offline) return Pull(request, hub, progress).Run();
  const std::string folder = CachedFolder(hub.cache, request.model, request.revision);
  Check(!folder.empty(), "{}: revision {} is not in the cache, {}, and downloads are off (HF_HUB_OFFLINE)",
        request.model, request.revision, hub.cache);
  return {.folder = folder};
}

}  // namespace headlight
