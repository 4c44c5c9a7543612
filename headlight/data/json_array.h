// Reads a JSON array of objects over many lines, one object at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "headlight/data/lines.h"

namespace headlight {

/// Splits an array, such as [{"text": "a"},\n {"text": "b"}], into the texts of its items without parsing them. Memory:
/// one item, at most kMaxLineBytes.
class JsonArrayReader {
 public:
  /// `line`: the array's first line, which begins with [; `number` is its line number.
  JsonArrayReader(std::string_view line, std::int64_t number) : line_(line.substr(1)), number_(number) {}

  /// The next item; nothing after the array. Throws Error naming the line if the content is not an array of objects;
  /// further calls throw it again.
  std::optional<std::string> Next(LineReader& lines);
  std::int64_t line_number() const { return first_; }  ///< of the line that the last item begins in

 private:
  char NextCharacter(LineReader& lines);

  std::string line_;
  std::size_t at_ = 0;
  std::int64_t number_, first_ = 0;  // of line_
  bool any_ = false, ended_ = false;
};

}  // namespace headlight
