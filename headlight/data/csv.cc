#include "headlight/data/csv.h"

#include "headlight/base/error.h"

namespace headlight {

bool IsCsv(std::string_view path) { return path.ends_with(".csv") || path.ends_with(".csv.gz"); }

std::string CsvReader::place() const { return fmt::format("{}:{}", lines_.name(), first_line_); }

std::optional<std::vector<std::string>> CsvReader::Next() {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::optional<std::string_view> line;
  do {
    line = lines_.Next();
    if (line && lines_.line_number() == 1 && line->starts_with(byte_order_mark))
      line->remove_prefix(byte_order_mark.size());
  } while (line && line->empty());
  if (!line) return std::nullopt;
  first_line_ = lines_.line_number();

  std::vector<std::string> fields(1);
  enum { begin, plain, quoted, closed } state = begin;  // where in a field the next character stands
  for (std::size_t bytes = line->size();;) {
    for (std::size_t i = 0; i < line->size(); ++i) {
      const char c = (*line)[i];
      if (state == quoted) {
        if (c != '"')
          fields.back() += c;
        else if (i + 1 < line->size() && (*line)[i + 1] == '"')
          fields.back() += (*line)[++i];
        else
          state = closed;
      } else if (c == ',') {
        fields.emplace_back();
        state = begin;
      } else if (c == '"' && state == begin) {
        state = quoted;
      } else {
        Check(state != closed, "{}:{}: text follows a closing quote; a quote inside of quotes is doubled",
              lines_.name(), lines_.line_number());
        fields.back() += c;
        state = plain;
      }
    }
    if (state != quoted) return fields;
    line = lines_.Next();
    Check(line.has_value(), "{}: a quote that is opened in this row is never closed", place());
    bytes += line->size() + 1;
    Check(bytes <= kMaxLineBytes, "{}: a row is longer than {} bytes; a quote may not be closed", place(),
          kMaxLineBytes);
    fields.back() += '\n';
  }
}

}  // namespace headlight
