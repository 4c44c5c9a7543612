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
  std::string place;  // file and line, to begin an error with
};

// The members of records that hold a source and its target; empty: the usual ones.
struct PairColumns {
  std::string source, target;
};

// The pair of a record (PairReader). `header`: as for TextsOfRecord.
HEADLIGHT_API TextPair PairOf(const JsonView& record, const std::vector<std::string>& header,
                              const PairColumns& columns);

// True if a header has the columns of both.
HEADLIGHT_API bool HasSides(const std::vector<std::string>& header, const PairColumns& columns);

// The pairs of a file, one after another: of records (HasRecords) of a source and a target (TextsAsked), such as
// "source" and "target" or "article" and "highlights"; or a source, a tab and its target a line; empty lines are none.
// The first line of a .tsv file is a header if it has both columns. A record with an object "translation" has the pair
// in it, by language: {"translation": {"de": "Ein Hund.", "en": "A dog."}}. `columns` names the members, which such a
// record needs. Throws Error if both are the same.
class HEADLIGHT_API PairReader {
 public:
  explicit PairReader(const std::string& path, PairColumns columns = {});

  // The next pair, of which a text may be empty; nothing after the last. Throws Error as Records and LineReader do,
  // naming the line for what is not that.
  std::optional<TextPair> Next();

 private:
  std::string path_;
  PairColumns columns_;
  std::optional<Records> records_;
  std::optional<LineReader> lines_;
};

// All pairs of files. Throws Error as PairReader does, and for a text that is empty.
HEADLIGHT_API std::vector<TextPair> ReadTextPairs(const std::vector<std::string>& paths,
                                                  const PairColumns& columns = {}, const TextShare& share = {});

// One side of a parallel corpus, a text at a time: of two files, whose lines are pairs, or of one that PairReader
// reads, where line ends and tabs within texts become spaces. `target` may be empty: then `source` is that file.
class HEADLIGHT_API SideReader {
 public:
  SideReader(const std::string& source, const std::string& target, bool of_target, const PairColumns& columns = {});

  std::optional<std::string_view> Next();          // valid until the next call; nothing after the last
  std::int64_t number() const { return number_; }  // of the text that Next gave last, from 1

 private:
  std::optional<LineReader> lines_;
  std::optional<PairReader> pairs_;
  bool of_target_;
  std::string text_;
  std::int64_t number_ = 0;
};

}  // namespace headlight
