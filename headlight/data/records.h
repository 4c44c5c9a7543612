// Files of records from users: JSON lines, and CSV or TSV with a header.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/data/csv.h"
#include "headlight/data/json_array.h"

namespace headlight {

enum class TextFormat { text, jsonl, csv, tsv };

// The format that a file's name says, in upper or lower case and perhaps with .gz: jsonl for .jsonl, .ndjson and .json,
// csv for .csv, tsv for .tsv, else text.
HEADLIGHT_API TextFormat TextFormatOf(std::string_view path);
// True for names that end in .json, perhaps with .gz.
HEADLIGHT_API bool IsJson(std::string_view path);
// True for names of JSON lines and CSV.
HEADLIGHT_API bool HasRecords(std::string_view path);

// The records of such a file, plain or gzip, as objects. JSON is an object a line, or an array of objects over any
// lines. Empty lines are skipped. A row of CSV has the names of the header's columns and strings; an empty field is
// left out. So has a row of TSV, whose fields are what is between its tabs. Places are
// "train.jsonl:7: key 'answers.text'".
class HEADLIGHT_API Records {
 public:
  explicit Records(const std::string& path);
  Records(LineReader lines, TextFormat format);                // not text
  Records(LineReader lines, std::vector<std::string> header);  // of TSV, whose header has been read

  // The next object; nothing after the last. Throws Error as LineReader, ParseJson and CsvReader do, for JSON that is
  // no object, and for a row that has not as many fields as the header.
  std::optional<JsonView> Next();
  const std::vector<std::string>& columns() const { return columns_; }     // of CSV and TSV
  std::int64_t line_number() const { return line_number_; }                // of the line that the last object begins in
  double share() const { return csv_ ? csv_->share() : lines_->share(); }  // as LineReader::share

 private:
  void CheckColumns(const std::string& place) const;
  JsonView ObjectOf(std::string_view json) const;

  std::optional<LineReader> lines_;  // of JSON lines and TSV
  std::optional<CsvReader> csv_;
  std::optional<JsonArrayReader> array_;
  std::int64_t line_number_ = 0;
  std::vector<std::string> columns_;
  bool tabs_ = false;   // TSV
  bool begun_ = false;  // an object has been read, after which no array begins
};

// The records of a file (HasRecords), or of a .tsv file whose first line is a header. Nothing for other files, and for
// a pipe that is called .tsv, since its first line could not be read again.
std::optional<Records> RecordsOf(const std::string& path,
                                 const std::function<bool(const std::vector<std::string>& line)>& is_header);
// True if one of these names is in a header.
bool HasAny(const std::vector<std::string>& header, std::initializer_list<const char*> names);

// The first of these members that a record has, of which it must have one.
JsonView OneOf(const JsonView& record, std::initializer_list<const char*> names);

// The names of an object's members in quotes; "nothing" if there are none.
HEADLIGHT_API std::string MembersOf(const JsonView& record);

// True unless the text is spaces and the like alone.
bool HasText(std::string_view text);

// Throws Error that names the files unless there is any text in them.
void CheckAnyText(bool any, const std::vector<std::string>& paths);

// A string, or an array of strings, without NUL, which LineReader refuses in plain text too.
HEADLIGHT_API std::string TextOf(const JsonView& json);
std::vector<std::string> TextsOf(const JsonView& json);
// A class: a string or an integer.
HEADLIGHT_API std::string LabelOf(const JsonView& json);

}  // namespace headlight
