// A JSON array of objects over many lines, an object at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "headlight/data/lines.h"

namespace headlight {

/// Divides an array, such as [{"text": "a"},\n {"text": "b"}], into the texts of its items, which it does not parse.
/// Memory: one item, at most kMaxLineBytes.
class JsonArrayReader {
 public:
  /// `line`: the array's first line, which begins with [ and has this number.
  JsonArrayReader(std::string_view line, std::int64_t number) : line_(line.substr(1)), number_(number) {}

  /// The next item; nothing after the array. Throws Error naming the line for what is no array of objects, and again
  /// when it is called again.
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
