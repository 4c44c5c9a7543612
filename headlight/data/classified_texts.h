// Texts, or pairs of texts, and their classes, to learn from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/labels.h"
#include "headlight/data/text_examples.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

// The members of records that hold a text, a second one and the class; empty: the usual ones.
struct TextColumns {
  std::string text, text_pair, label;
};

// The labels that a text has.
enum class LabelsPerText { one, several, numbers };

// A text, a tab and its class a line, or two texts with a tab between and their class; or records (HasRecords) of
// "label" (or "labels") and "text", perhaps with "text_pair", or of the names that GLUE's tasks have: "sentence",
// "sentence1" and "sentence2", "question" and "sentence", "premise" and "hypothesis", "question1" and "question2".
// With `several`, a text's classes are an array, which may be empty; in lines and CSV they are separated by commas.
// With `numbers`, there is one number for each label, in the same form. Where new labels are added, all are put in
// order (SortLabels). A file whose columns seem to be mistaken is warned of. Throws Error naming the line for what is
// not that, and for what has more than `longest` tokens.
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
