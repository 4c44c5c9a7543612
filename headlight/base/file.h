// Files: mapped to be read, replaced whole to be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

// False only for a path at which nothing is: one that cannot be examined is left to whoever opens it.
HEADLIGHT_API bool Exists(const std::string& path);

// A file's bytes, mapped for reading; - is standard input, to its end. Throws Error naming what cannot be read.
// Truncating a mapped file kills its reader (SIGBUS); replacing it, as below, is safe.
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

// A file that appears whole or not at all: written beside its path, flushed to the disk, renamed over it by Commit.
// Without Commit the old file stays and the new one is removed; if this process is killed, by the next write to that
// path. Every failure (also a full disk) throws Error. Only a regular file is ever replaced.
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

// Replaces the file at `path` by `text`, whole or not at all.
HEADLIGHT_API void WriteFile(const std::string& path, std::string_view text);

// The whole file as a string; at most `limit` bytes, else an Error that names both sizes.
HEADLIGHT_API std::string ReadFile(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 32);

// Makes `to`, which does not exist, a hard link to the file `from`, or a copy of it where the file system has no links.
// Neither may be changed in place afterwards.
HEADLIGHT_API void LinkOrCopy(const std::string& from, const std::string& to);

// A folder that appears at once: `fill` writes into an empty folder beside `path`, whose files are then flushed and
// which is renamed to `path`. The folder that was at `path` before is removed only after that. The next call also
// removes what killed processes left beside `path`. Throws Error where there is a file at `path`.
HEADLIGHT_API void ReplaceFolder(const std::string& path, const std::function<void(const std::string& folder)>& fill);

}  // namespace headlight
