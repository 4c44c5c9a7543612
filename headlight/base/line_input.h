// Reads plain and gzip files sequentially.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "headlight/base/export.h"

namespace headlight {

/// Reads the bytes of a plain or gzip file. The first two bytes determine the format. Bytes of a pipe or terminal are
/// returned as they arrive. Throws Error with the file's name if it is missing or unreadable, or if gzip data is
/// damaged or truncated.
class HEADLIGHT_API ByteInput {
 public:
  explicit ByteInput(const std::string& path);  ///< "-" is standard input, which can have one reader at a time
  ByteInput(int descriptor, std::string name);  ///< reads a descriptor owned by the caller; `name` is for errors
  ByteInput(ByteInput&&) noexcept;
  ~ByteInput();

  /// Reads up to `size` bytes (at least 1) into `to`. Returns the number of bytes read, or 0 at the end.
  std::size_t Read(char* to, std::size_t size);
  /// Returns the fraction of a regular file that has been read, in [0, 1]. The last `unread` bytes that Read returned
  /// are not counted. For gzip files, compressed bytes are counted. Returns -1 for other inputs.
  double Share(std::size_t unread = 0) const;
  const std::string& name() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Returns the whole file, decompressed if it is gzip. Throws Error if it has more than `limit` bytes.
HEADLIGHT_API std::string ReadInflated(const std::string& path, std::size_t limit);

/// The maximum length of a line. Longer lines are rejected, which bounds the memory that a file can use.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 24;

/// Reads the lines of a ByteInput and returns each line as soon as it is complete. A line ends with "\n" or "\r\n"; the
/// last line may end with the file. Throws Error with the file, line (from 1) and byte (from 0) if a line contains NUL
/// or is longer than kMaxLineBytes. Reading can then continue with the next line.
class HEADLIGHT_API LineInput {
 public:
  /// The treatment of marks that other programs add to a file. A byte order mark can be at the start of the file.
  /// MMseqs2 ends entries with NULs, which are then at the start of a line.
  enum class Marks { kept, skipped };
  explicit LineInput(ByteInput input, Marks marks = Marks::kept) : input_(std::move(input)), marks_(marks) {}

  /// Returns the next line without its end, valid until the next call, or nullopt after the last line.
  std::optional<std::string_view> Next();
  /// Returns true if the following bytes are `bytes`, without consuming them. Waits for more input as long as the bytes
  /// match.
  bool BeginsWith(std::string_view bytes);
  std::int64_t line_number() const { return line_number_; }  ///< number of the last line returned by Next, from 1
  const std::string& name() const { return input_.name(); }
  double share() const { return input_.Share(end_ - begin_); }  ///< fraction of the file that was returned as lines

 private:
  std::string_view TakeLine(std::size_t size, std::size_t with_end);
  [[noreturn]] void FailTooLong() const;
  std::size_t ReadMore();

  ByteInput input_;
  Marks marks_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  // the part of the buffer that was read but not yet returned
  std::int64_t line_number_ = 0;
  bool skipping_ = false;  // true while skipping the rest of a line that is too long
};

}  // namespace headlight
