// What a check of data is given, what it returns, and what it tells meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/data/text_columns.h"
#include "headlight/data/text_pairs.h"
#include "headlight/image/decoding/decode.h"

namespace headlight {

struct DataCheck {
  /// Text: plain, .tsv, .csv, .jsonl or .json, perhaps .gz; or folders with a folder of images for each class.
  std::vector<std::string> files = {}, valid = {};
  /// What a row has: texts, parallel (line i of two files: a source and its target), pairs (a source and its target
  /// in columns), labels (a text or two and their class, classes or number), questions (with a context and answers) or
  /// tags (words and their tags). Empty: what the names of a record's members say, and texts for plain files.
  std::string task = {};
  std::optional<TextFormat> format = {};  ///< of texts; none: as the names of the files say
  TextColumns columns = {};               ///< of texts and their labels; none: the usual ones
  PairColumns pairs = {};                 ///< of pairs; none: the usual ones
  std::int64_t max_characters = 5000;     ///< of a text; longer ones are found
  std::string tokenizer = {};             ///< the folder of one, which counts the tokens for `max_tokens`
  std::int64_t max_tokens = 512;
  double max_ratio = 9;                    ///< of the characters of a pair's longer text to those of its shorter one
  std::int64_t min_side = 16;              ///< pixels; images of a shorter side are found
  std::int64_t most_pixels = kMostPixels;  ///< images of more are damaged
  std::int64_t examples = 5;               ///< places that are named for each finding; of damaged images all are
  bool shifts = true;                      ///< whether lines out of step are searched for
};

/// One kind of mistake.
struct Finding {
  std::string kind;                   ///< a name in snake_case, such as "duplicates"
  std::string text;                   ///< what is counted, such as "duplicates of an earlier line"
  std::int64_t count = 0;             ///< at least 1
  std::vector<std::string> examples;  ///< places and what is there: the first ones
};

struct CheckResult {
  std::string unit;        ///< "lines", "rows", "pairs" or "images"
  std::int64_t count = 0;  ///< how many there are, without those of `valid`
  std::vector<Finding> findings;
};

/// Is told of the check. The function may be empty.
struct CheckObserver {
  std::function<void(std::int64_t done)> progress = {};  ///< units so far
};

}  // namespace headlight
