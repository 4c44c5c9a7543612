// The texts of a file, in any of the formats that every command reads.
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

/// Where in a file its texts are.
struct TextSource {
  std::optional<TextFormat> format = {};  ///< none: as the file's name says (TextFormatOf)
  TextColumns columns = {};               ///< of the texts of a record; none: the usual ones
  TextsAsked asked = TextsAsked::text;    ///< with `texts` a .tsv file has a header only if that names them
  bool proteins = false;                  ///< the texts are sequences of residues: what begins with > is FASTA
  std::string mask = {};                  ///< which FASTA may have among the letters
};

/// Adds the option --format.
HEADLIGHT_API void AddTextFormat(OptionTable& table, std::optional<TextFormat>& format);
/// Adds the options --format and --text-column, and --text-pair-column if a text may be two.
HEADLIGHT_API void Describe(OptionTable& table, TextSource& source);

/// True for names that end in .fasta, .fa or .faa, or these and .gz: sequences of residues (protein/sequences.h).
HEADLIGHT_API bool HasSequences(std::string_view path);

/// Reads the texts of a file, plain or gzip, one at a time: its lines; or the records of JSON lines, CSV or TSV, by the
/// name of a key or of a column in the header; or the letters of FASTA's sequences, if its name says so (HasSequences)
/// or it begins with > where proteins are expected. A text of JSON or of a quoted CSV field may have several lines. TSV
/// has no quotes. Memory: one text.
class HEADLIGHT_API TextReader {
 public:
  /// `path`: - is standard input. Throws Error for a header that has no such columns, naming those that it has.
  explicit TextReader(const std::string& path, TextSource source = {});
  explicit TextReader(LineReader lines) : name_(lines.name()), lines_(std::move(lines)) {}

  /// The next text; nothing after the last. Throws Error as LineReader, Records and FastaReader do, and for a record
  /// without the text, naming its keys. Reading can go on with the next text.
  std::optional<SourceText> Next();

  const std::string& name() const { return name_; }
  const char* unit() const;                              ///< what a text is: "line", "record" or "sequence"
  bool has_lines() const { return lines_.has_value(); }  ///< texts are lines, in which tabs may divide two texts
  bool has_sequences() const { return sequences_.has_value(); }
  std::int64_t count() const;  ///< texts that were given, those with errors included
  double share() const;        ///< of the file that has been read, in [0, 1]; -1: unknown

 private:
  std::string name_;
  TextSource source_;
  std::optional<LineReader> lines_;
  std::optional<std::string> first_line_;  // which was read to look for a header
  std::optional<Records> records_;
  std::optional<FastaReader> sequences_;
  std::int64_t count_ = 0;
};

/// All first texts of a file that is small enough to be held, such as a test set.
HEADLIGHT_API std::vector<std::string> AllTexts(const std::string& path, const TextSource& source = {});

}  // namespace headlight
