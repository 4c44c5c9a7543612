// Files read from front to end, plain or gzip.
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

// The bytes of a file, plain or gzip (told apart by its first two bytes), or of a pipe or terminal, as they come.
// Throws Error naming the file where it is missing or unreadable, and where gzip data is damaged or ends early.
class HEADLIGHT_API ByteInput {
 public:
  explicit ByteInput(const std::string& path);  // - is standard input, for one reader at a time
  ByteInput(int descriptor, std::string name);  // reads a descriptor that stays the caller's; `name` is for errors
  ByteInput(ByteInput&&) noexcept;
  ~ByteInput();

  // Puts up to `size` > 0 bytes at `to` and returns how many; 0 at the end.
  std::size_t Read(char* to, std::size_t size);
  // How much of a regular file has been read, less `unread` bytes of what Read gave, in [0, 1], of a gzip file by its
  // compressed bytes; -1 for others.
  double Share(std::size_t unread = 0) const;
  const std::string& name() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// The whole file, inflated if it is gzip's: at most `limit` bytes, else an Error that names the limit.
HEADLIGHT_API std::string ReadInflated(const std::string& path, std::size_t limit);

// A longer line is none of a text; refusing it bounds the memory that a file can ask for.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 24;

// The lines of a ByteInput, each as soon as it is complete. A line ends with "\n" or "\r\n", the last one perhaps with
// the file. Throws Error naming the file, and the line (from 1) and byte (from 0), where a line holds a NUL or is
// longer than kMaxLineBytes; after that, reading can go on with the next.
class HEADLIGHT_API LineInput {
 public:
  // Marks that other programs add to a file: a byte order mark at its start, and NULs at the start of a line, with
  // which MMseqs2 ends entries.
  enum class Marks { kept, skipped };
  explicit LineInput(ByteInput input, Marks marks = Marks::kept) : input_(std::move(input)), marks_(marks) {}

  // The next line without its end, valid until the next call; nothing after the last.
  std::optional<std::string_view> Next();
  // Returns true if the bytes that follow are these. It consumes none, and waits for as many as agree.
  bool BeginsWith(std::string_view bytes);
  std::int64_t line_number() const { return line_number_; }  // of the line that Next gave last, from 1
  const std::string& name() const { return input_.name(); }
  double share() const { return input_.Share(end_ - begin_); }  // of what has been given as lines

 private:
  std::string_view TakeLine(std::size_t size, std::size_t with_end);
  [[noreturn]] void FailTooLong() const;
  std::size_t ReadMore();

  ByteInput input_;
  Marks marks_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what of the buffer is read and not yet given
  std::int64_t line_number_ = 0;
  bool skipping_ = false;  // the rest of a line that is too long
};

}  // namespace headlight
