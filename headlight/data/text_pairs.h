// Pairs of texts for training: the input and its target.
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
  std::string location;  // file and line, the prefix of error messages
};

/// The names of the members with a source and its target. Empty: the usual names.
struct PairColumns {
  std::string source, target;
};

/// The pair in a record (PairReader). `header`: as in TextsOfRecord.
HEADLIGHT_API TextPair PairOf(const JsonView& record, const std::vector<std::string>& header,
                              const PairColumns& columns);

/// True if a header has the columns of both texts.
HEADLIGHT_API bool HasSides(const std::vector<std::string>& header, const PairColumns& columns);

/// The pairs of a file. Records (HasRecords) have a source and a target (TextsAsked), such as "source" and "target" or
/// "article" and "highlights". A line has a source, a tab and its target; empty lines are skipped. The first line of a
/// .tsv file is a header if it has both columns. A record may have the pair in an object "translation", by language:
/// {"translation": {"de": "Ein Hund.", "en": "A dog."}}. Then `columns` must name the languages. Throws Error if both
/// names are the same.
class HEADLIGHT_API PairReader {
 public:
  explicit PairReader(const std::string& path, PairColumns columns = {});

  /// The next pair, in which a text may be empty; nothing after the last. Throws Error as Records and LineReader do,
  /// naming the line for other content.
  std::optional<TextPair> Next();

 private:
  std::string path_;
  PairColumns columns_;
  std::optional<Records> records_;
  std::optional<LineReader> lines_;
};

/// All pairs of files. Throws Error as PairReader does, and for an empty text.
HEADLIGHT_API std::vector<TextPair> ReadTextPairs(const std::vector<std::string>& paths,
                                                  const PairColumns& columns = {}, const TextShare& share = {});

/// One side of a parallel corpus, text by text. It has two files with parallel lines, or if `target` is empty, one file
/// for PairReader, in which line ends and tabs within texts become spaces.
class HEADLIGHT_API SideReader {
 public:
  SideReader(const std::string& source, const std::string& target, bool of_target, const PairColumns& columns = {});

  std::optional<std::string_view> Next();          // valid until the next call; nothing after the last
  std::int64_t number() const { return number_; }  // of the last text, from 1

 private:
  std::optional<LineReader> lines_;
  std::optional<PairReader> pairs_;
  bool of_target_;
  std::string text_;
  std::int64_t number_ = 0;
};

}  // namespace headlight
