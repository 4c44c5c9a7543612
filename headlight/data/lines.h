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

/// Reads the lines of a plain or gzip text file (LineInput). A byte order mark at the start is skipped. Next throws
/// Error naming the file, line and byte for a line that is not UTF-8. The next call continues after this line.
class HEADLIGHT_API LineReader {
 public:
  explicit LineReader(const std::string& path);  ///< "-" is standard input, which only one reader may use at a time
  explicit LineReader(LineInput lines) : lines_(std::move(lines)) {}
  LineReader(int descriptor, std::string name);  ///< does not close the descriptor; `name` is used in error messages

  /// Returns the next line without its end, or nothing after the last line. The view is valid until the next call.
  std::optional<std::string_view> Next();
  std::int64_t line_number() const { return lines_.line_number(); }  ///< number of the last line, from 1
  const std::string& name() const { return lines_.name(); }
  /// Returns the fraction of a regular file that has been read, from 0 to 1. For gzip, this is the fraction of
  /// compressed bytes. Returns -1 for other files.
  double share() const { return lines_.share(); }

 private:
  LineInput lines_;
};

/// Splits a line at tabs.
HEADLIGHT_API std::vector<std::string> ColumnsOf(std::string_view line);

}  // namespace headlight
