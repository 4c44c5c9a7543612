// Reads text files line by line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/line_input.h"

namespace headlight {

/// The lines of a text file, plain or gzip, as in LineInput, without a byte order mark at the start. Next throws Error
/// naming the file, line and byte for a line that is not UTF-8; the next call continues after it.
class HEADLIGHT_API LineReader {
 public:
  explicit LineReader(const std::string& path);  // "-" is standard input, for one reader at a time
  explicit LineReader(LineInput lines) : lines_(std::move(lines)) {}
  LineReader(int descriptor, std::string name);  // does not close the descriptor; `name` is for errors

  /// The next line without its end, valid until the next call; nothing after the last.
  std::optional<std::string_view> Next();
  std::int64_t line_number() const { return lines_.line_number(); }  // of the last line, from 1
  const std::string& name() const { return lines_.name(); }
  /// The share of a regular file that has been returned as lines, in [0, 1]; for gzip, the share of compressed bytes.
  /// -1 for other files.
  double share() const { return lines_.share(); }

 private:
  LineInput lines_;
};

/// The columns of a line, separated by tabs.
HEADLIGHT_API std::vector<std::string> ColumnsOf(std::string_view line);

}  // namespace headlight
