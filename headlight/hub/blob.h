// A content of the cache while it is downloaded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace headlight {

// A lock that one process holds until this is destroyed. Where the file system has no locks, all do.
class FileLock {
 public:
  // Waits for it; calls `wait` until it has it.
  FileLock(const std::string& path, const std::function<void()>& wait);
  FileLock(const FileLock&) = delete;
  ~FileLock();

 private:
  int descriptor_;
};

// The file PATH.incomplete, which becomes PATH when it is whole. Otherwise it stays, to be continued.
class IncompleteBlob {
 public:
  // Of `size` bytes. Continues what an earlier download left.
  IncompleteBlob(std::string path, std::uint64_t size);
  IncompleteBlob(const IncompleteBlob&) = delete;
  ~IncompleteBlob();

  std::uint64_t done() const { return done_; }
  // Adds bytes at the end, or with offset 0 begins again.
  void Write(std::uint64_t offset, std::string_view bytes);
  // Whether the bytes have that hash: a SHA-256 or, of 40 digits, git's. True for a name that is neither.
  bool HasHash(const std::string& hash) const;
  void Commit();
  void Discard();  // of what there is

 private:
  std::string path_, incomplete_;
  std::uint64_t size_ = 0, done_ = 0;
  int descriptor_ = -1;
};

}  // namespace headlight
