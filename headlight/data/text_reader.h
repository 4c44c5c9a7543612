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

/// Where the texts are in a file.
struct TextSource {
  std::optional<TextFormat> format = {};  ///< none: as the file's name says (TextFormatOf)
  TextColumns columns = {};               ///< of the texts of a record; none: the usual ones
  TextsAsked asked = TextsAsked::text;    ///< with `texts`, a .tsv file has a header only if it names them
  bool proteins = false;                  ///< the texts are sequences of residues: what begins with > is FASTA
  std::string mask = {};                  ///< which FASTA may have among the letters
};

/// Adds the option --format.
HEADLIGHT_API void AddTextFormat(OptionTable& table, std::optional<TextFormat>& format);
/// Adds the options --format and --text-column, and --text-pair-column if a text may be two.
HEADLIGHT_API void Describe(OptionTable& table, TextSource& source);

/// True for names that end in .fasta, .fa or .faa, optionally with .gz: protein sequences (protein/sequences.h).
HEADLIGHT_API bool HasSequences(std::string_view path);

/// Reads the texts of a file, plain or gzip, one at a time. These are its lines, the named members of JSON lines, CSV
/// or TSV records, or the letters of FASTA sequences. FASTA files are known by name (HasSequences), or by a leading >
/// if proteins are expected. A text of JSON or of a quoted CSV field may have several lines. TSV has no quotes. Memory:
/// one text.
class HEADLIGHT_API TextReader {
 public:
  /// `path`: - is standard input. Throws Error for a header without the needed columns, naming those that it has.
  explicit TextReader(const std::string& path, TextSource source = {});
  explicit TextReader(LineReader lines) : name_(lines.name()), lines_(std::move(lines)) {}

  /// The next text; nothing after the last. Throws Error as LineReader, Records and FastaReader do, and for a record
  /// without the text, naming its keys. The next call continues after it.
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
  std::optional<std::string> first_line_;  // it was read to look for a header
  std::optional<Records> records_;
  std::optional<FastaReader> sequences_;
  std::int64_t count_ = 0;
};

/// All first texts of a file that fits in memory, such as a test set.
HEADLIGHT_API std::vector<std::string> AllTexts(const std::string& path, const TextSource& source = {});

}  // namespace headlight
