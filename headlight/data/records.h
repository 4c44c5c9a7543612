// Reads files of records: JSON lines, and CSV or TSV with a header.
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

/// Returns the format of a file by its name, ignoring case and an optional .gz at the end. The format is jsonl for
/// .jsonl, .ndjson and .json, csv for .csv, tsv for .tsv, otherwise text.
HEADLIGHT_API TextFormat TextFormatOf(std::string_view path);
/// Returns true for names that end in .json, optionally with .gz.
HEADLIGHT_API bool IsJson(std::string_view path);
/// Returns true for JSON lines and CSV.
HEADLIGHT_API bool HasRecords(TextFormat format);
/// Returns true if a file name indicates JSON lines or CSV.
HEADLIGHT_API bool HasRecords(std::string_view path);

/// Reads the records of a plain or gzip file as objects. JSON has one object per line, or an array of objects over any
/// number of lines. Empty lines are skipped. A row of CSV is an object of strings. The header's columns are the names
/// of the members, and empty fields are omitted. TSV differs from CSV in that fields are separated by tabs. Locations
/// have the form "train.jsonl:7: key 'answers.text'".
class HEADLIGHT_API Records {
 public:
  explicit Records(const std::string& path);
  Records(LineReader lines, TextFormat format);                ///< `format` must not be text
  Records(LineReader lines, std::vector<std::string> header);  ///< for TSV if the header has already been read

  /// Returns the next object, or nothing after the last one. Throws the errors of LineReader, ParseJson and CsvReader.
  /// Also throws Error for JSON that is not an object, and for a row whose number of fields differs from the header.
  std::optional<JsonView> Next();
  const std::vector<std::string>& columns() const { return columns_; }     ///< columns of CSV and TSV
  std::int64_t line_number() const { return line_number_; }                ///< first line of the last object
  double share() const { return csv_ ? csv_->share() : lines_->share(); }  ///< as in LineReader::share

 private:
  void CheckColumns(const std::string& location) const;
  JsonView ObjectOf(std::string_view json) const;

  std::optional<LineReader> lines_;  // for JSON lines and TSV
  std::optional<CsvReader> csv_;
  std::optional<JsonArrayReader> array_;
  std::int64_t line_number_ = 0;
  std::vector<std::string> columns_;
  bool tabs_ = false;   // true for TSV
  bool begun_ = false;  // true once an object has been read, so an array can no longer begin
};

/// Opens the records of a file (HasRecords), or of a .tsv file whose first line is a header. Returns nothing for other
/// files, and for a pipe named .tsv, because its first line cannot be read twice. `format` overrides the format that
/// the file name indicates. If `format` is tsv, the file has a header.
std::optional<Records> RecordsOf(const std::string& path,
                                 const std::function<bool(const std::vector<std::string>& line)>& is_header,
                                 std::optional<TextFormat> format = {});
/// Returns true if the header has a column with one of these names.
bool HasAny(const std::vector<std::string>& header, std::initializer_list<const char*> names);

/// Returns the record's member for the first of `names` that the record contains. Throws Error if it contains none.
JsonView OneOf(const JsonView& record, std::initializer_list<const char*> names);

/// Returns the names of an object's members in quotes, or "nothing" if there are none.
HEADLIGHT_API std::string MembersOf(const JsonView& record);

/// Returns true if the text has a character that is not white space.
bool HasText(std::string_view text);

/// Throws Error naming the files unless `any` is true.
void CheckAnyText(bool any, const std::vector<std::string>& paths);

/// Return a string, or an array of strings. Throw Error for NUL characters, as LineReader does for plain text.
HEADLIGHT_API std::string TextOf(const JsonView& json);
std::vector<std::string> TextsOf(const JsonView& json);
/// Returns a class, which is a string or an integer.
HEADLIGHT_API std::string LabelOf(const JsonView& json);

}  // namespace headlight
