// Text from outside, a line at a time.
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

// The lines of a text file, plain or gzip, as LineInput reads them, without the byte order mark that some programs put
// at the start of a file. Next also throws Error naming the file, line and byte for a line that is not UTF-8, after
// which reading can go on with the next.
class HEADLIGHT_API LineReader {
 public:
  explicit LineReader(const std::string& path);  // - is standard input, for one reader at a time
  explicit LineReader(LineInput lines) : lines_(std::move(lines)) {}
  LineReader(int descriptor, std::string name);  // reads a descriptor that stays the caller's; `name` is for errors

  // The next line without its end, valid until the next call; nothing after the last.
  std::optional<std::string_view> Next();
  std::int64_t line_number() const { return lines_.line_number(); }  // of the line that Next gave last, from 1
  const std::string& name() const { return lines_.name(); }
  // How much of a regular file has been given as lines, in [0, 1], of a gzip file by its compressed bytes; -1 for
  // others.
  double share() const { return lines_.share(); }

 private:
  LineInput lines_;
};

// The columns of a line, with tabs between.
HEADLIGHT_API std::vector<std::string> ColumnsOf(std::string_view line);

}  // namespace headlight
