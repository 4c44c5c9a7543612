#include "headlight/hub/blob.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/hub/digest.h"

namespace headlight {
namespace {

[[noreturn]] void FailOn(const std::string& path, const char* what) {
  Fail("{}: {}: {}", path, what, std::strerror(errno));
}

constexpr std::size_t kSha256Digits = 64, kSha1Digits = 40;

}  // namespace

FileLock::FileLock(const std::string& path, const std::function<void()>& wait)
    : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) FailOn(path, "cannot open");
  try {
    while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) wait();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

FileLock::~FileLock() { close(descriptor_); }

IncompleteBlob::IncompleteBlob(std::string path, std::uint64_t size)
    : path_(std::move(path)), incomplete_(path_ + ".incomplete"), size_(size) {
  descriptor_ = open(incomplete_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  struct stat status {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) close(descriptor_);
    errno = error;
    FailOn(incomplete_, "cannot open");
  }
  done_ = static_cast<std::uint64_t>(status.st_size);
  if (done_ > size_) Discard();
}

IncompleteBlob::~IncompleteBlob() { close(descriptor_); }

void IncompleteBlob::Write(std::uint64_t offset, std::string_view bytes) {
  if (offset != done_) Discard();
  Ensure(offset == done_, "{}: a part is missing", incomplete_);
  while (!bytes.empty()) {
    // Because offsets are explicit, two processes can write the same content at the same time without damage.
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(done_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) FailOn(incomplete_, "cannot write");
    done_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool IncompleteBlob::HasHash(const std::string& hash) const {
  if (hash.size() != kSha256Digits && hash.size() != kSha1Digits) return true;
  Digest digest = hash.size() == kSha256Digits ? Digest::Sha256() : Digest::GitBlob(size_);
  std::vector<char> bytes(std::size_t{1} << 20);
  for (off_t offset = 0;;) {
    const ssize_t got = pread(descriptor_, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) FailOn(incomplete_, "cannot read");
    if (got == 0) return digest.Hex() == hash;
    digest.Update({bytes.data(), static_cast<std::size_t>(got)});
    offset += got;
  }
}

void IncompleteBlob::Commit() {
  if (fsync(descriptor_) != 0 && errno != EINVAL) FailOn(incomplete_, "cannot flush to the disk");
  if (rename(incomplete_.c_str(), path_.c_str()) != 0) FailOn(path_, "cannot create");
}

void IncompleteBlob::Discard() {
  if (ftruncate(descriptor_, 0) != 0) FailOn(incomplete_, "cannot empty");
  done_ = 0;
}

}  // namespace headlight
