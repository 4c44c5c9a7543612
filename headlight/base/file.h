// Files that are memory-mapped for reading and atomically replaced for writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "headlight/base/export.h"

namespace headlight {

/// Returns false only if nothing exists at `path`. A path that cannot be examined counts as existing, so that opening
/// it reports the error.
HEADLIGHT_API bool Exists(const std::string& path);

/// The bytes of a file, memory-mapped for reading. The path "-" is standard input, which is read to its end. Throws
/// Error if the file cannot be read. Truncating a mapped file kills its reader (SIGBUS). Replacing it with AtomicFile
/// is safe.
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

/// Returns the memory of the whole pages within `bytes` to the system if they belong to a MappedFile. The system reads
/// the pages again when they are used. Other memory is unchanged.
HEADLIGHT_API void ReleasePages(std::span<const std::byte> bytes);

/// Writes a file atomically. The data is written to a temporary file next to the target, flushed to disk, and renamed
/// by Commit. Without Commit, the old file is kept and the new file is removed. If the process is killed, the next
/// write to that path removes the temporary file. All failures throw Error, including a full disk. Only regular files
/// are replaced.
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

/// Atomically replaces the contents of the file at `path` with `text`.
HEADLIGHT_API void WriteFile(const std::string& path, std::string_view text);

/// Returns the whole file as a string. Throws Error with both sizes in the message if it has more than `limit` bytes.
HEADLIGHT_API std::string ReadFile(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 32);

/// Makes `to`, which must not exist, a hard link to the file `from`, or a copy if the file system does not support hard
/// links. Afterwards, neither file may be changed in place.
HEADLIGHT_API void LinkOrCopy(const std::string& from, const std::string& to);

/// Atomically replaces a folder. `fill` writes into an empty folder next to `path`, which is then flushed and renamed
/// to `path`. The old folder is removed only after the rename. The next call also removes leftovers of killed
/// processes. Throws Error if a file exists at `path`.
HEADLIGHT_API void ReplaceFolder(const std::string& path, const std::function<void(const std::string& folder)>& fill);

}  // namespace headlight
