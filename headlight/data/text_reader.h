// Reads the texts of a file in any supported format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/option_table.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"
#include "headlight/data/text_columns.h"
#include "headlight/protein/sequences.h"

namespace headlight {

/// The format of a file and the columns of its texts.
struct TextSource {
  std::optional<TextFormat> format = {};  ///< none: determined by the file name (TextFormatOf)
  TextColumns columns = {};               ///< columns of a record's texts; none: the default columns
  TextsAsked asked = TextsAsked::text;    ///< for TextsAsked::texts, a .tsv file needs no header by default
  bool proteins = false;  ///< if true, the texts are residue sequences, and a file that begins with > is FASTA
  std::string mask = {};  ///< a mask token that may occur among the letters in FASTA
};

/// Adds the option --format.
HEADLIGHT_API void AddTextFormat(OptionTable& table, std::optional<TextFormat>& format);
/// Adds the options --format and --text-column, and --text-pair-column if there can be two texts.
HEADLIGHT_API void Describe(OptionTable& table, TextSource& source);

/// Returns true for names of protein sequence files (protein/sequences.h): .fasta, .fa or .faa, optionally with .gz.
HEADLIGHT_API bool HasSequences(std::string_view path);
/// Returns true if the input begins with >, perhaps after a byte order mark, as FASTA does.
HEADLIGHT_API bool BeginsAsFasta(LineInput& input);

/// Reads the texts of a plain or gzip file, one at a time. Texts are lines, the named members of JSON lines, CSV or TSV
/// records, or the letters of FASTA sequences. A file is FASTA if it has such a name (HasSequences) and begins with >.
/// If proteins are expected, one of the two is enough, since .fa is also the ending of texts in Persian. A text of JSON
/// or of a quoted CSV field may have several lines. TSV has no quotes. Only one text is in memory.
class HEADLIGHT_API TextReader {
 public:
  /// Opens a file, or standard input if `path` is "-". If a header does not have the required columns, throws Error
  /// naming its columns.
  explicit TextReader(const std::string& path, TextSource source = {});
  explicit TextReader(LineReader lines) : name_(lines.name()), lines_(std::move(lines)) {}

  /// Returns the next text, or nothing after the last text. Throws the errors of LineReader, Records and FastaReader.
  /// If a record has no text, throws Error naming its keys. The next call continues after that record.
  std::optional<SourceText> Next();

  const std::string& name() const { return name_; }
  const char* unit() const;                              ///< the unit of a text: "line", "record" or "sequence"
  bool has_lines() const { return lines_.has_value(); }  ///< true if texts are lines, or pairs separated by a tab
  bool has_sequences() const { return sequences_.has_value(); }
  std::int64_t count() const;  ///< number of texts so far, including texts with errors
  double share() const;        ///< fraction of the file that has been read, from 0 to 1; -1: unknown

 private:
  std::string name_;
  TextSource source_;
  std::optional<LineReader> lines_;
  std::optional<std::string> first_line_;  // the first line if it was read to look for a header
  std::optional<Records> records_;
  std::optional<FastaReader> sequences_;
  std::int64_t count_ = 0;
};

/// Returns the first text of each record of a file that fits in memory, such as a test set.
HEADLIGHT_API std::vector<std::string> AllTexts(const std::string& path, const TextSource& source = {});

}  // namespace headlight
