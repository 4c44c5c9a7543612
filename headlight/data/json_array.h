// Reads a JSON array of objects that spans many lines, one object at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "headlight/data/lines.h"

namespace headlight {

/// Splits an array, such as [{"text": "a"},\n {"text": "b"}], into the texts of its items without parsing them. Only
/// one item, of at most kMaxLineBytes, is in memory.
class JsonArrayReader {
 public:
  /// `line` is the array's first line, which begins with [, and `number` its line number.
  JsonArrayReader(std::string_view line, std::int64_t number) : line_(line.substr(1)), number_(number) {}

  /// Returns the next item, or nothing after the array. Throws Error naming the line if the content is not an array of
  /// objects. Further calls throw the same Error.
  std::optional<std::string> Next(LineReader& lines);
  std::int64_t line_number() const { return first_; }  ///< the line in which the last item begins

 private:
  char NextCharacter(LineReader& lines);

  std::string line_;
  std::size_t at_ = 0;
  std::int64_t number_, first_ = 0;  // line numbers of line_ and of the last item's first line
  bool any_ = false, ended_ = false;
};

}  // namespace headlight
