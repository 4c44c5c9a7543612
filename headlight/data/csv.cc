#include "headlight/data/csv.h"

#include <iterator>

#include "headlight/base/error.h"

namespace headlight {

std::string CsvReader::location() const { return fmt::format("{}:{}", lines_.name(), first_line_); }

std::optional<std::string_view> CsvReader::NextLine() {
  if (again_.empty()) {
    const auto line = lines_.Next();
    if (line) line_number_ = lines_.line_number();
    return line;
  }
  line_ = std::move(again_.front());
  again_.pop_front();
  ++line_number_;
  return line_;
}

// Throws the error of a row. The later lines of the row are then read again as separate rows, since an unclosed quote
// includes all lines up to the next quote.
void CsvReader::FailRow(const std::string& error) {
  constexpr std::size_t most = 4 * kMaxLineBytes;  // bounds the time if each row fails after many lines
  for (const std::string& line : later_lines_) read_again_ += line.size() + 1;
  if (read_again_ > most) last_error_ = error;
  line_number_ = first_line_;
  again_.insert(again_.begin(), std::make_move_iterator(later_lines_.begin()),
                std::make_move_iterator(later_lines_.end()));
  throw Error(error);
}

std::optional<std::vector<std::string>> CsvReader::Next() {
  if (!last_error_.empty()) throw Error(last_error_);
  std::optional<std::string_view> line;
  do line = NextLine();
  while (line && line->empty());
  if (!line) return std::nullopt;
  first_line_ = line_number_;
  later_lines_.clear();

  std::vector<std::string> fields(1);
  enum { begin, plain, quoted, closed } state = begin;  // state of the current field
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
        if (state == closed)
          FailRow(fmt::format("{}: text follows a closing quote in line {}; a quote inside of quotes is doubled",
                              location(), line_number_));
        fields.back() += c;
        state = plain;
      }
    }
    if (state != quoted) return fields;
    line = NextLine();
    if (!line) FailRow(location() + ": a quote that is opened in this row is never closed");
    later_lines_.emplace_back(*line);
    bytes += line->size() + 1;
    if (bytes > kMaxLineBytes)
      FailRow(fmt::format("{}: a row is longer than {} bytes; a quote may not be closed", location(), kMaxLineBytes));
    fields.back() += '\n';
  }
}

}  // namespace headlight
