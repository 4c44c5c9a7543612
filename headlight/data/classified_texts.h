// Texts, or pairs of texts, and their classes, to learn from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/labels.h"
#include "headlight/data/text_columns.h"
#include "headlight/data/text_examples.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// The labels that a text has.
enum class LabelsPerText { one, several, numbers };

// The labels of a field of a table: with commas between, or one.
HEADLIGHT_API std::vector<std::string> LabelsOfField(std::string_view field, LabelsPerText asked);

// A text, a tab and its class a line, or two texts with a tab between and their class; or records (HasRecords) of
// "label" (or "labels") and one text or two (TextsOfRecord, TextsAsked::texts). The first line of a .tsv file is a
// header if it has the columns of a text and a label. With `several`, a text's classes are an array, which may be
// empty; in lines, CSV and TSV they are separated by commas. With `numbers`, there is one number for each label, in the
// same form. If new labels are added, all are put in order (SortLabels). A file whose columns seem to be mistaken is
// warned of. Throws Error naming the line for what is not that, and for what has more than `longest` tokens.
struct ClassifiedTextOptions {
  NewLabels rule = NewLabels::added;
  LabelsPerText asked = LabelsPerText::one;
  TextColumns columns = {};
  TextShare share = {};
  bool truncate = false;  // leave out the end of a text that is too long, and count it
};
HEADLIGHT_API TextExamples ReadClassifiedTexts(const std::vector<std::string>& paths,
                                               const PipelineTokenizer& tokenizer, std::int64_t longest,
                                               std::vector<std::string>& labels,
                                               const ClassifiedTextOptions& options = {});

}  // namespace headlight
