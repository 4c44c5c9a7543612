// The options, result and observer of a data check.
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
  /// Text files (plain, .tsv, .csv, .jsonl or .json, optionally .gz), or folders of images with one subfolder per
  /// class.
  std::vector<std::string> files = {}, valid = {};
  /// The content of a row:
  /// - texts,
  /// - parallel: line i of two files is a source and its target,
  /// - pairs: a source and its target in columns,
  /// - labels: one or two texts with a class, several classes or a number,
  /// - questions: a question with a context and answers,
  /// - tags: words and their tags.
  ///
  /// If empty, plain files have texts, and the names of the members determine the task of records.
  std::string task = {};
  std::optional<TextFormat> format = {};  ///< format of the texts; default: determined by the file name
  TextColumns columns = {};               ///< columns of texts and labels; default: the usual names
  bool several_labels = false;            ///< if true, a label in a table may be several labels, separated by commas
  PairColumns pairs = {};                 ///< columns of pairs; default: the usual names
  std::int64_t max_characters = 5000;     ///< longer texts are findings
  std::string tokenizer = {};             ///< folder of a tokenizer, to count tokens for `max_tokens`
  std::int64_t max_tokens = 512;
  double max_ratio = 9;                    ///< the largest ratio of the lengths of a pair's texts, in characters
  std::int64_t min_side = 16;              ///< pixels; images with a shorter side are findings
  std::int64_t most_pixels = kMostPixels;  ///< images with more pixels are reported as damaged
  std::int64_t examples = 5;               ///< examples of each finding; all damaged images are listed
  bool shifts = true;                      ///< if true, searches for misaligned lines
  bool decode = true;                      ///< if true, decodes images to find damaged and small ones
  bool classes = true;                     ///< if true, the subfolders of a folder of images are classes
};

/// One kind of mistake.
struct Finding {
  std::string kind;                   ///< a name in snake_case, such as "duplicates"
  std::string text;                   ///< the kind in words, such as "duplicates of an earlier line"
  std::int64_t count = 0;             ///< at least 1
  std::vector<std::string> examples;  ///< the locations and descriptions of the first findings
};

struct CheckResult {
  std::string unit;        ///< "lines", "rows", "pairs" or "images"
  std::int64_t count = 0;  ///< number of units, excluding `valid`
  std::vector<Finding> findings;
};

/// The callbacks of a check. `progress` may be empty.
struct CheckObserver {
  std::function<void(std::int64_t done)> progress = {};  ///< number of units done
};

}  // namespace headlight
