#include "headlight/data/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headlight/text/utf8.h"

namespace headlight {

LineReader::LineReader(const std::string& path) : lines_(ByteInput(path)) {}
LineReader::LineReader(int descriptor, std::string name) : lines_(ByteInput(descriptor, std::move(name))) {}

std::optional<std::string_view> LineReader::Next() {
  std::optional<std::string_view> line = lines_.Next();
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (line && line_number() == 1 && line->starts_with(mark)) line->remove_prefix(mark.size());
  if (line && ValidUtf8(*line) < line->size()) CheckUtf8(*line, fmt::format("{}: line {}", name(), line_number()));
  return line;
}

std::vector<std::string> ColumnsOf(std::string_view line) {
  std::vector<std::string> columns;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    columns.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return columns;
}

}  // namespace headlight
