// Comma-separated values (RFC 4180) from users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/lines.h"

namespace headlight {

// True for names that end in .csv or .csv.gz.
HEADLIGHT_API bool IsCsv(std::string_view path);

// The rows of a file, plain or gzip. A field in double quotes may hold commas, line ends (which become "\n") and
// quotes, doubled; empty lines and a byte order mark are skipped.
class HEADLIGHT_API CsvReader {
 public:
  explicit CsvReader(const std::string& path) : lines_(path) {}
  explicit CsvReader(LineReader lines) : lines_(std::move(lines)) {}

  // The fields of the next row; nothing after the last. Throws Error as LineReader does, and naming the line where a
  // quote is never closed, text follows a closing quote, or a row is longer than kMaxLineBytes.
  std::optional<std::vector<std::string>> Next();
  std::string place() const;  // of the row that Next gave last: "train.csv:7", the line that it begins in
  double share() const { return lines_.share(); }

 private:
  LineReader lines_;
  std::int64_t first_line_ = 0;
};

}  // namespace headlight
