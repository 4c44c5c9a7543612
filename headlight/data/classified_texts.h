// Training texts, or pairs of texts, with their classes.
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

/// A text has one label, several labels, or numbers.
enum class LabelsPerText { one, several, numbers };

/// Returns the labels in a table field. They are separated by commas unless there is one label per text.
HEADLIGHT_API std::vector<std::string> LabelsOfField(std::string_view field, LabelsPerText asked);

/// Reads texts with labels from lines or records. A line has a text, a tab and its class, or two texts and their class.
/// Records (HasRecords) have "label" (or "labels") and one or two texts (TextsOfRecord, TextsAsked::texts). The first
/// line of a .tsv file is a header if it has the columns of a text and a label.
///
/// LabelsPerText::several: the classes of a text are an array, which may be empty. In lines, CSV and TSV, the classes
/// are separated by commas. LabelsPerText::numbers: a text has one number per label, in the same format. If new labels
/// are added, all labels are sorted (SortLabels). Adds a warning if columns seem to be in the wrong order. Throws Error
/// naming the line for other content, and for a text of more than `longest` tokens.
struct ClassifiedTextOptions {
  NewLabels rule = NewLabels::added;
  LabelsPerText asked = LabelsPerText::one;
  TextColumns columns = {};
  TextShare share = {};
  std::optional<TextFormat> format = {};  ///< format of all files; by default determined by the file name
  bool truncate = false;                  ///< if true, texts that are too long are truncated and counted
};
HEADLIGHT_API TextExamples ReadClassifiedTexts(const std::vector<std::string>& paths,
                                               const PipelineTokenizer& tokenizer, std::int64_t longest,
                                               std::vector<std::string>& labels,
                                               const ClassifiedTextOptions& options = {});

}  // namespace headlight
