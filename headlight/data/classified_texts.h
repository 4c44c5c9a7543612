// Texts, or pairs of texts, with their classes, for training.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/labels.h"
#include "headlight/data/text_columns.h"
#include "headlight/data/text_examples.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

/// The kind of labels of a text.
enum class LabelsPerText { one, several, numbers };

/// The labels in a field of a table: separated by commas, or one.
HEADLIGHT_API std::vector<std::string> LabelsOfField(std::string_view field, LabelsPerText asked);

/// Reads texts with labels from lines or records. A line has a text, a tab and its class, or two texts and their class.
/// Records (HasRecords) have "label" (or "labels") and one or two texts (TextsOfRecord, TextsAsked::texts). The first
/// line of a .tsv file is a header if it has the columns of a text and a label.
///
/// With `several`, a text's classes are an array, which may be empty; in lines, CSV and TSV they are separated by
/// commas. With `numbers`, there is one number for each label, in the same form. If new labels are added, all are
/// sorted (SortLabels). A warning tells if columns seem to be in the wrong order. Throws Error naming the line for
/// other content, and for a text of more than `longest` tokens.
struct ClassifiedTextOptions {
  NewLabels rule = NewLabels::added;
  LabelsPerText asked = LabelsPerText::one;
  TextColumns columns = {};
  TextShare share = {};
  std::optional<TextFormat> format = {};  ///< of all files; by default decided by the file name
  bool truncate = false;                  ///< truncate texts that are too long, and count them
};
HEADLIGHT_API TextExamples ReadClassifiedTexts(const std::vector<std::string>& paths,
                                               const PipelineTokenizer& tokenizer, std::int64_t longest,
                                               std::vector<std::string>& labels,
                                               const ClassifiedTextOptions& options = {});

}  // namespace headlight
