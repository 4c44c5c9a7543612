#include "headlight/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void FailErrno(const std::string& path, const char* what) {
  Fail("{}: {}: {}", path, what, std::strerror(errno));
}

void Flush(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) FailErrno(path, "cannot open to flush");
  const bool flushed = fsync(descriptor) == 0 || errno == EINVAL;  // some file systems cannot flush a folder
  close(descriptor);
  if (!flushed) FailErrno(path, "cannot flush to the disk");
}

std::string ParentFolder(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  const int descriptor = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) FailErrno(path_, "cannot open");
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    Fail("{}: not a regular file", path_);
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0) {
    void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED) {
      close(descriptor);
      FailErrno(path_, "cannot map");
    }
    data_ = static_cast<const std::byte*>(mapped);
  }
  close(descriptor);
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  temporary_ = path_ + ".XXXXXX";
  descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) FailErrno(path_, "cannot create a file beside it");
  fchmod(descriptor_, 0644);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
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
  if (fsync(descriptor_) != 0 && errno != EINVAL) FailErrno(path_, "cannot flush to the disk");
  if (close(std::exchange(descriptor_, -1)) != 0) FailErrno(path_, "cannot close");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) FailErrno(path_, "cannot replace");
  temporary_.clear();
  Flush(ParentFolder(path_));
}

void WriteFile(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.Write(text);
  file.Commit();
}

std::string ReadFile(const std::string& path, std::uint64_t limit) {
  const MappedFile file(path);
  Check(file.bytes().size() <= limit, "{}: {} bytes, more than the {} that such a file may have", path,
        file.bytes().size(), limit);
  return std::string(file.text());
}

void ReplaceFolder(const std::string& path, const std::function<void(const std::string& folder)>& fill) {
  std::string temporary = path + ".new-XXXXXX";
  if (mkdtemp(temporary.data()) == nullptr) FailErrno(path, "cannot create a folder beside it");
  std::error_code ignored;
  try {
    chmod(temporary.c_str(), 0755);
    fill(temporary);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(temporary)) Flush(entry.path());
    Flush(temporary);
    // rename cannot replace a folder with files in it, so two names are exchanged and the old one is removed.
    if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0 &&
        rename(temporary.c_str(), path.c_str()) != 0)
      FailErrno(path, "cannot put the new folder in place");
    Flush(ParentFolder(path));
  } catch (...) {
    fs::remove_all(temporary, ignored);
    throw;
  }
  fs::remove_all(temporary, ignored);
}

}  // namespace headlight
