// Training pairs of an input text and its target text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"
#include "headlight/data/text_share.h"

namespace headlight {

struct TextPair {
  std::string source, target;
  std::string location;  ///< file and line, used as prefix of error messages
};

/// The names of the members with a source and its target. If empty, the default names are used.
struct PairColumns {
  std::string source, target;
};

/// Returns the pair in a record (PairReader). `header` is the same as in TextsOfRecord.
HEADLIGHT_API TextPair PairOf(const JsonView& record, const std::vector<std::string>& header,
                              const PairColumns& columns);

/// Returns true if a header has the columns of both texts.
HEADLIGHT_API bool HasSides(const std::vector<std::string>& header, const PairColumns& columns);

/// Reads the pairs of a file. Records (HasRecords) have a source and a target (TextsAsked), such as "source" and
/// "target" or "article" and "highlights". A line has a source, a tab and its target. Empty lines are skipped. The
/// first line of a .tsv file is a header if it has both columns. A record may have the pair in an object "translation",
/// with languages as keys: {"translation": {"de": "Ein Hund.", "en": "A dog."}}. In this case, `columns` must name the
/// languages. Throws Error if both names are equal.
class HEADLIGHT_API PairReader {
 public:
  explicit PairReader(const std::string& path, PairColumns columns = {});

  /// Returns the next pair, or nothing after the last pair. A text may be empty. Throws the errors of Records and
  /// LineReader. Also throws Error naming the line for other content.
  std::optional<TextPair> Next();

 private:
  std::string path_;
  PairColumns columns_;
  std::optional<Records> records_;
  std::optional<LineReader> lines_;
};

/// Reads all pairs of files. Throws the errors of PairReader. Also throws Error for an empty text.
HEADLIGHT_API std::vector<TextPair> ReadTextPairs(const std::vector<std::string>& paths,
                                                  const PairColumns& columns = {}, const TextShare& share = {});

/// Reads one side of a parallel corpus, text by text. The corpus has two files with parallel lines or, if `target` is
/// empty, one file for PairReader. In a file for PairReader, line ends and tabs within texts become spaces.
class HEADLIGHT_API SideReader {
 public:
  SideReader(const std::string& source, const std::string& target, bool of_target, const PairColumns& columns = {});

  std::optional<std::string_view> Next();          ///< valid until the next call; nothing after the last text
  std::int64_t number() const { return number_; }  ///< number of the last text, from 1

 private:
  std::optional<LineReader> lines_;
  std::optional<PairReader> pairs_;
  bool of_target_;
  std::string text_;
  std::int64_t number_ = 0;
};

}  // namespace headlight
