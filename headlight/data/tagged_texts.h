// Sentences with a tag for each word, such as named entities, for training.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/data/labels.h"
#include "headlight/data/text_examples.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

struct TaggedTexts {
  /// Windows over the sentences. Their `labels` are the tags of tokens; their `words` have the index in the sentence of
  /// the word that begins with each token, or a negative number.
  TextExamples texts;
  std::vector<std::int32_t> sentence_of;        // sentence of each window
  std::vector<std::vector<std::int32_t>> tags;  // tags of each sentence's words
};

/// The columns of a line of a CoNLL file, separated by spaces or tabs.
HEADLIGHT_API std::vector<std::string_view> ColumnsOfConll(std::string_view line);

/// The words of a record with their tags, and their locations.
struct TaggedRecord {
  std::vector<std::string> words, tags;
  std::vector<std::string> word_locations, tag_locations;
};
HEADLIGHT_API TaggedRecord TagsOf(const JsonView& record);

/// Reads CoNLL files or records. In a CoNLL file, each line has a word and in its last column a tag, and an empty line
/// ends a sentence. Columns are separated by spaces or tabs, and all lines have the same number. Lines that begin with
/// -DOCSTART- are skipped. Records (HasRecords) have "tokens" and "tags" or "ner_tags": arrays, or texts separated by
/// spaces.
///
/// The words of a sentence, joined by spaces, are read in windows as `TokenClassifier` does. Each token has its label
/// in the window whose edges are farthest from it. All tokens of a word have its tag, but after a first token with B-X
/// the others have I-X, so that the tags of tokens form the same spans. If new tags are added, all are sorted
/// (SortLabels). `format` replaces the format of the file name. Throws Error naming the line for other content.
HEADLIGHT_API TaggedTexts ReadTaggedTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                          std::int64_t longest, std::vector<std::string>& labels, NewLabels rule,
                                          const TextShare& share = {}, std::optional<TextFormat> format = {});

}  // namespace headlight
