#include "headlight/base/file.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/read_record.h"

namespace headlight {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void FailErrno(const std::string& path, const char* what) {
  Fail("{}: {}: {}", path, what, std::strerror(errno));
}

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  const int number;
};

void Flush(int descriptor, const std::string& path) {
  // Some file systems cannot flush a folder.
  if (fsync(descriptor) != 0 && errno != EINVAL) FailErrno(path, "cannot flush to the disk");
}

void Flush(const std::string& path) {
  const Descriptor opened(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.number < 0) FailErrno(path, "cannot open to flush");
  Flush(opened.number, path);
}

// The next two functions flush or remove a folder and all files in it. Errors of removal are ignored. libstdc++'s
// recursive iterator and remove_all are not used, because they terminate the program if memory is exhausted.
void FlushAll(const std::string& folder) {
  const auto flush = [](const char* path, const struct stat*, int type, FTW*) {
    if (type == FTW_SL) return 0;
    const Descriptor opened(open(path, O_RDONLY | O_CLOEXEC));
    return opened.number >= 0 && (fsync(opened.number) == 0 || errno == EINVAL) ? 0 : -1;
  };
  if (nftw(folder.c_str(), flush, /*descriptors=*/16, FTW_DEPTH | FTW_PHYS) != 0)
    FailErrno(folder, "cannot flush to the disk");
}

void RemoveAll(const std::string& name) {
  const auto remove_one = [](const char* path, const struct stat*, int, FTW*) {
    remove(path);
    return 0;
  };
  nftw(name.c_str(), remove_one, /*descriptors=*/16, FTW_DEPTH | FTW_PHYS);
}

enum class Kind { file, folder };

// Returns the absolute path of `path` with links resolved, so that replacing the target keeps the links. Throws Error
// if another kind of file exists at the path.
std::string Target(const std::string& path, Kind kind) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (kind == Kind::file) {
    Check(!fs::is_directory(status), "{}: is a folder, which a file cannot replace", path);
    Check(!fs::exists(status) || fs::is_regular_file(status), "{}: is not a regular file, it cannot be replaced", path);
  } else {
    Check(!fs::exists(status) || fs::is_directory(status), "{}: is not a folder", path);
  }
  fs::path target = fs::weakly_canonical(fs::absolute(path, error), error);
  Check(!error && !path.empty(), "{}: cannot be written: {}", path, error ? error.message() : "the path is empty");
  if (!target.has_filename()) target = target.parent_path();  // for example "out/"
  return target.string();
}

std::string ParentFolder(const std::string& target) { return fs::path(target).parent_path().string(); }

// Returns the prefix of new files, which are written next to their target. A number follows the prefix. The writer
// holds a lock on the new file until its process ends. A new file without a lock is a leftover.
std::string FreshPrefix(const std::string& target) { return target + ".headlight-new-"; }

// Returns true if the open file or folder still has this name. While we also hold its lock, no other process removes
// it.
bool IsAt(int descriptor, const std::string& name) {
  struct stat opened, named;
  return fstat(descriptor, &opened) == 0 && lstat(name.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

// Removes the file or folder with this name unless it is locked. Some network file systems do not support locks. In
// that case, it is removed only if `ours` is true.
void RemoveUnlocked(const std::string& name, bool ours) {
  const Descriptor opened(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (opened.number < 0) return;
  const bool locked = flock(opened.number, LOCK_EX | LOCK_NB) == 0;
  if (!locked && (!ours || errno == EWOULDBLOCK)) return;
  if (IsAt(opened.number, name)) RemoveAll(name);
}

// Removes leftovers of killed processes next to the target. Their numbers are low, because each writer uses the lowest
// free number. Listing the folder instead would take quadratic time if many files are written to one folder.
void RemoveLeftovers(const std::string& target) {
  constexpr unsigned most_absent = 16;
  for (unsigned number = 0, absent = 0; absent < most_absent; ++number) {
    const std::string name = FreshPrefix(target) + std::to_string(number);
    struct stat found;
    absent = lstat(name.c_str(), &found) == 0 ? 0 : absent + 1;
    if (absent == 0) RemoveUnlocked(name, false);
  }
}

struct Fresh {
  std::string name;
  int descriptor = -1;  // open and locked
};

Fresh CreateFresh(const std::string& target, Kind kind, const std::string& path) {
  RemoveLeftovers(target);
  for (unsigned number = 0;; ++number) {
    std::string name = FreshPrefix(target) + std::to_string(number);
    const bool is_file = kind == Kind::file;
    const bool made_folder = !is_file && mkdir(name.c_str(), 0777) == 0;
    const int descriptor = is_file       ? open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                           : made_folder ? open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                         : -1;
    // Until the file is locked, another process may treat it as a leftover. In that case, the next number is tried. On
    // file systems without locks, nothing counts as a leftover.
    if (descriptor >= 0) {
      const bool taken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
      if (!taken && IsAt(descriptor, name)) return {std::move(name), descriptor};
      close(descriptor);
    } else if (errno != EEXIST && !(made_folder && errno == ENOENT)) {
      const int error = errno;
      if (made_folder) rmdir(name.c_str());
      errno = error;
      FailErrno(path, "cannot create a file next to it");
    }
  }
}

// Exchanges the folders `fresh` and `target`, or moves `fresh` if there is no target. Returns false and sets errno on
// failure.
bool Exchange(const std::string& fresh, const std::string& target) {
  const auto move = [](const std::string& from, const std::string& to) {
    return rename(from.c_str(), to.c_str()) == 0;
  };
  if (renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno != ENOENT && errno != EINVAL && errno != ENOSYS) return false;
  if (access(target.c_str(), F_OK) != 0) return move(fresh, target);
  // The file system cannot exchange names (NFS). If the process is killed between these two renames, the old folder
  // remains as `old`.
  const std::string old = fresh + ".old";
  RemoveAll(old);
  if (!move(target, old)) return false;
  if (move(fresh, target)) {
    move(old, fresh);
    return true;
  }
  const int error = errno;
  move(old, target);
  errno = error;
  return false;
}

void PutInPlace(const std::string& fresh, const std::string& target, const std::string& path) {
  // Several attempts may be needed if other processes create folders at the target.
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (Exchange(fresh, target)) return;
    if (errno != ENOENT && errno != EEXIST && errno != ENOTEMPTY) break;
  }
  const bool mounted = errno == EBUSY || errno == EXDEV;
  FailErrno(path, mounted ? "is where a disk is mounted, name a folder in it" : "cannot put the new folder in place");
}

// Copies standard input to a file in memory, because a pipe cannot be mapped.
void CopyStandardInput(int to) {
  constexpr std::size_t most = std::size_t{1} << 30;
  char bytes[1 << 16];
  for (std::size_t size = 0;;) {
    const ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (got == 0) return;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || write(to, bytes, static_cast<std::size_t>(got)) != got) FailErrno("standard input", "cannot read");
    Check((size += static_cast<std::size_t>(got)) <= most, "standard input: more than {} bytes, the limit", most);
  }
}

// The memory ranges of all MappedFile objects.
class MappedMemory {
 public:
  void Add(std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    sizes_[bytes.data()] = bytes.size();
  }
  void Remove(const std::byte* begin) {
    const std::lock_guard lock(mutex_);
    sizes_.erase(begin);
  }
  bool Contain(std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    auto after = sizes_.upper_bound(bytes.data());
    if (after == sizes_.begin()) return false;
    const auto& [begin, size] = *--after;
    return static_cast<std::size_t>(bytes.data() - begin) + bytes.size() <= size;
  }

 private:
  std::mutex mutex_;
  std::map<const std::byte*, std::size_t> sizes_;
};

MappedMemory& Mappings() {
  static auto* mappings = new MappedMemory;  // never destroyed: static objects may map files
  return *mappings;
}

}  // namespace

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) || error;
}

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  const bool input = path_ == "-";
  const Descriptor opened(input ? memfd_create("standard input", MFD_CLOEXEC)
                                : open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (input) path_ = "standard input";
  ReadRecord::Add(path_);
  if (opened.number < 0) FailErrno(path_, "cannot open");
  if (input) CopyStandardInput(opened.number);
  struct stat status {};
  if (fstat(opened.number, &status) != 0) FailErrno(path_, "cannot read");
  Check(!S_ISDIR(status.st_mode), "{}: is a folder, not a file", path_);
  Check(S_ISREG(status.st_mode), "{}: is not a regular file", path_);
  if (status.st_size == 0) return;
  void* mapped = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, opened.number, 0);
  if (mapped == MAP_FAILED) FailErrno(path_, "cannot map");
  data_ = static_cast<const std::byte*>(mapped);
  size_ = static_cast<std::size_t>(status.st_size);
  Mappings().Add(bytes());
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  Mappings().Remove(data_);
  munmap(const_cast<std::byte*>(data_), size_);
}

void ReleasePages(std::span<const std::byte> bytes) {
  if (!Mappings().Contain(bytes)) return;
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t begin = (first + page - 1) / page * page, end = (first + bytes.size()) / page * page;
  if (begin < end) madvise(const_cast<std::byte*>(bytes.data()) + (begin - first), end - begin, MADV_DONTNEED);
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(Target(path_, Kind::file)) {
  Fresh fresh = CreateFresh(target_, Kind::file, path_);
  fresh_ = std::move(fresh.name);
  descriptor_ = fresh.descriptor;
}

AtomicFile::~AtomicFile() {
  if (!fresh_.empty()) unlink(fresh_.c_str());
  if (descriptor_ >= 0) close(descriptor_);
}

void AtomicFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      FailErrno(path_, "cannot write");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::Commit() {
  Flush(descriptor_, path_);
  if (rename(fresh_.c_str(), target_.c_str()) != 0) FailErrno(path_, "cannot replace");
  fresh_.clear();
  close(std::exchange(descriptor_, -1));  // last, because closing releases the lock
  Flush(ParentFolder(target_));
}

void WriteFile(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.Write(text);
  file.Commit();
}

std::string ReadFile(const std::string& path, std::uint64_t limit) {
  const MappedFile file(path);
  Check(file.bytes().size() <= limit, "{}: {} bytes exceed the limit of {}", file.path(), file.bytes().size(), limit);
  return std::string(file.text());
}

void LinkOrCopy(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (error) fs::copy_file(from, to, error);
  Check(!error, "{}: cannot be copied to {}: {}", from, to, error.message());
}

void ReplaceFolder(const std::string& path, const std::function<void(const std::string& folder)>& fill) {
  const std::string target = Target(path, Kind::folder);
  const Fresh fresh = CreateFresh(target, Kind::folder, path);
  {
    const Descriptor locked(fresh.descriptor);
    try {
      fill(fresh.name);
      FlushAll(fresh.name);
      PutInPlace(fresh.name, target, path);
    } catch (const fs::filesystem_error& error) {
      RemoveAll(fresh.name);
      Fail("{}: {}", path, error.what());
    } catch (...) {
      RemoveAll(fresh.name);
      throw;
    }
  }
  Flush(ParentFolder(target));
  RemoveUnlocked(fresh.name, true);  // removes the old folder after the exchange
}

}  // namespace headlight
