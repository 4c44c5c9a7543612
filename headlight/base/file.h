// Files: memory-mapped to read, atomically replaced to write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

/// False only if nothing is at `path`. A path that cannot be examined counts as existing, so that opening it reports
/// the error.
HEADLIGHT_API bool Exists(const std::string& path);

/// The bytes of a file, memory-mapped for reading; - is standard input, read to its end. Throws Error if it cannot be
/// read. Truncating a mapped file kills its reader (SIGBUS); replacing it with AtomicFile is safe.
class HEADLIGHT_API MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(std::string path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Gives the memory of the whole pages within `bytes` back to the system if they are of a MappedFile. They are read
/// again when they are used. Other memory stays as it is.
HEADLIGHT_API void ReleasePages(std::span<const std::byte> bytes);

/// A file that is written atomically: to a temporary file next to it, flushed to disk, and renamed by Commit. Without
/// Commit, the old file is kept and the new one is removed. If the process is killed, the next write to that path
/// removes it. All failures throw Error, including a full disk. Only regular files are replaced.
class HEADLIGHT_API AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void Write(std::span<const std::byte> bytes);
  void Write(std::string_view text) { Write(std::as_bytes(std::span(text.data(), text.size()))); }
  void Commit();

 private:
  std::string path_, target_, fresh_;
  int descriptor_ = -1;
};

/// Atomically replaces the file at `path` by `text`.
HEADLIGHT_API void WriteFile(const std::string& path, std::string_view text);

/// The whole file as a string. Throws Error with both sizes if it has more than `limit` bytes.
HEADLIGHT_API std::string ReadFile(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 32);

/// Makes `to`, which must not exist, a hard link to the file `from`, or a copy if the file system has no links. Neither
/// may be changed in place afterwards.
HEADLIGHT_API void LinkOrCopy(const std::string& from, const std::string& to);

/// Atomically replaces a folder: `fill` writes into an empty folder next to `path`, which is flushed and renamed to
/// `path`. The old folder is removed only afterwards. The next call also removes leftovers of killed processes. Throws
/// Error if a file is at `path`.
HEADLIGHT_API void ReplaceFolder(const std::string& path, const std::function<void(const std::string& folder)>& fill);

}  // namespace headlight
