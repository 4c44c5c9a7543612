// Reads comma-separated values (RFC 4180).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/lines.h"

namespace headlight {

/// Reads the rows of a plain or gzip file. A field in double quotes may contain commas, line ends (which become "\n")
/// and doubled quotes. Empty lines are skipped.
class HEADLIGHT_API CsvReader {
 public:
  explicit CsvReader(const std::string& path) : lines_(path) {}
  explicit CsvReader(LineReader lines) : lines_(std::move(lines)) {}

  /// Returns the fields of the next row, or nothing after the last row. Throws the errors of LineReader. Also throws
  /// Error naming the line for an unclosed quote, text after a closing quote, and a row longer than kMaxLineBytes. The
  /// next call continues at the second line of that row, unless too many bytes have been read again. In that case, the
  /// next call throws the same Error.
  std::optional<std::vector<std::string>> Next();
  std::int64_t line_number() const { return first_line_; }  ///< first line of the last row
  std::string location() const;                             ///< location of the last row, such as "train.csv:7"
  double share() const { return lines_.share(); }

 private:
  std::optional<std::string_view> NextLine();
  [[noreturn]] void FailRow(const std::string& error);

  LineReader lines_;
  std::int64_t first_line_ = 0, line_number_ = 0;
  std::vector<std::string> later_lines_;  // lines of the current row after its first line
  std::deque<std::string> again_;         // lines to read again
  std::string line_;                      // the last line that was read again
  std::size_t read_again_ = 0;            // total bytes that were read again
  std::string last_error_;                // if set, every call throws this error
};

}  // namespace headlight
