#include "headlight/data/json_array.h"

#include <fmt/format.h>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

// Returns the next character, '\n' at the end of a line, or '\0' after the last line.
char JsonArrayReader::NextCharacter(LineReader& lines) {
  if (at_ < line_.size()) return line_[at_++];
  const auto line = lines.Next();
  number_ = lines.line_number();
  if (!line) return '\0';
  line_ = *line;
  at_ = 0;
  return '\n';
}

std::optional<std::string> JsonArrayReader::Next(LineReader& lines) {
  const auto wrong = [&](char c) {
    Check(c != '\0', "{}: the JSON array has no closing bracket", lines.name());
    if (at_ > 0) --at_;  // so that the next call throws the same error
    Fail("{}:{}: {} is not expected in an array of objects", lines.name(), number_, Quoted(std::string_view(&c, 1)));
  };
  char c = '\n';
  bool comma = false;
  while (IsSpace(c) || c == ',') {
    c = NextCharacter(lines);
    if (ended_ && c == '\0') return std::nullopt;
    if (c == ',' && (comma || !any_ || ended_)) wrong(c);
    comma = comma || c == ',';
  }
  if (c == ']' && !comma && !ended_) {
    ended_ = true;
    return Next(lines);
  }
  if (c != '{' || ended_ || (any_ && !comma)) wrong(c);
  any_ = true;
  first_ = number_;
  std::string item(1, c);
  bool in_string = false, escaped = false;
  for (std::int64_t depth = 1; depth > 0;) {
    c = NextCharacter(lines);
    if (c == '\0') wrong(c);
    item += c;
    Check(item.size() <= kMaxLineBytes, "{}:{}: an object is longer than {} bytes", lines.name(), first_,
          kMaxLineBytes);
    if (escaped) {
      escaped = false;
    } else if (in_string) {
      escaped = c == '\\';
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return item;
}

}  // namespace headlight
