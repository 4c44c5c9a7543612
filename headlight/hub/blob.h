// Stores a blob of the cache while it is downloaded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headlight {

// An exclusive lock between processes. It is held until the object is destroyed. On file systems without locks, it has
// no effect.
class FileLock {
 public:
  // Waits for the lock. Calls `wait` repeatedly until the lock is acquired.
  FileLock(const std::string& path, const std::function<void()>& wait);
  FileLock(const FileLock&) = delete;
  ~FileLock();

 private:
  int descriptor_;
};

// The file PATH.incomplete, which is renamed to PATH when it is complete. An incomplete file is kept, so that the
// download can be continued.
class IncompleteBlob {
 public:
  // Opens or creates the file for content of `size` bytes. Keeps the bytes of an earlier download.
  IncompleteBlob(std::string path, std::uint64_t size);
  IncompleteBlob(const IncompleteBlob&) = delete;
  ~IncompleteBlob();

  std::uint64_t done() const { return done_; }
  // Appends bytes. An offset of 0 discards the previous content.
  void Write(std::uint64_t offset, std::string_view bytes);
  // Returns true if the content has this hash: SHA-256 (64 digits), or git's SHA-1 (40 digits). Also returns true for
  // hashes of other lengths, which cannot be checked.
  bool HasHash(const std::string& hash) const;
  void Commit();
  void Discard();  // removes the content

 private:
  std::string path_, incomplete_;
  std::uint64_t size_ = 0, done_ = 0;
  int descriptor_ = -1;
};

}  // namespace headlight
