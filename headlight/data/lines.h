// Text from outside, a line at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

// A longer line is no sentence but a file that is not text; refusing it bounds the memory that a file can ask for.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

// Reads a text file, plain or gzip (told apart by its first two bytes), or a pipe or terminal, whose lines come as soon
// as they are complete. A line ends with "\n" or "\r\n", the last one perhaps with the file.
// Throws Error naming the file, and the line (from 1) and byte (from 0), where the file is missing or unreadable, where
// gzip data is damaged or ends early, and where a line is not UTF-8, holds a NUL or is longer than kMaxLineBytes; after
// an error about a line, which line_number() then counts, reading can go on with the next.
class HEADLIGHT_API LineReader {
 public:
  explicit LineReader(std::string path);         // - is standard input, for one reader at a time
  LineReader(int descriptor, std::string name);  // reads a descriptor that stays the caller's; `name` is for errors
  ~LineReader();
  LineReader(LineReader&&) noexcept;

  // The next line without its end, valid until the next call; nothing after the last.
  std::optional<std::string_view> Next();
  std::int64_t line_number() const { return line_number_; }  // of the line that Next gave last, from 1
  const std::string& name() const { return name_; }
  // How much of a regular file has been given as lines, in [0, 1], of a gzip file by its compressed bytes; -1 for
  // others.
  double share() const;

 private:
  class Input;

  std::string_view TakeLine(std::size_t size, std::size_t with_end);
  [[noreturn]] void FailTooLong() const;

  std::string name_;
  std::unique_ptr<Input> input_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what of the buffer is read and not yet given
  std::int64_t line_number_ = 0;
  bool skipping_ = false;  // the rest of a line that is too long
};

// All lines of a file that is small enough to be held, such as a test set.
HEADLIGHT_API std::vector<std::string> ReadLines(const std::string& path);

}  // namespace headlight
