// Training sentences with a tag for each word, such as named entities.
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
  /// Windows over the sentences. The labels of a window are the tags of its tokens. For a token that begins a word,
  /// `words` has the word's index in the sentence. For other tokens, it is negative.
  TextExamples texts;
  std::vector<std::int32_t> sentence_of;        ///< index of each window's sentence
  std::vector<std::vector<std::int32_t>> tags;  ///< tags of the words of each sentence
};

/// Returns the columns of a line of a CoNLL file, which are separated by spaces or tabs.
HEADLIGHT_API std::vector<std::string_view> ColumnsOfConll(std::string_view line);

/// The words of a record with their tags and their locations.
struct TaggedRecord {
  std::vector<std::string> words, tags;
  std::vector<std::string> word_locations, tag_locations;
};
HEADLIGHT_API TaggedRecord TagsOf(const JsonView& record);
/// Returns true if the first line of a .tsv file is a header of such records.
HEADLIGHT_API bool HasTags(const std::vector<std::string>& header);

/// Reads CoNLL files or records. In a CoNLL file, the first column of each line is a word and the last column its tag.
/// An empty line ends a sentence. Columns are separated by spaces or tabs, and all lines have the same number of
/// columns. Lines that begin with -DOCSTART- are skipped. Records (RecordsOf, HasTags) have "tokens" and "tags" or
/// "ner_tags", as arrays or as texts separated by spaces.
///
/// The words of a sentence are joined by spaces and divided into windows as in `TokenClassifier`. If windows overlap, a
/// token has its label only in the window in which it is farthest from an edge. All tokens of a word have its tag. If
/// the tag is B-X, all tokens except the first have I-X, so that the tags of tokens form the same spans. If new tags
/// are added, all tags are sorted (SortLabels). `format` overrides the format that the file name indicates. Throws
/// Error naming the line for other content.
HEADLIGHT_API TaggedTexts ReadTaggedTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                          std::int64_t longest, std::vector<std::string>& labels, NewLabels rule,
                                          const TextShare& share = {}, std::optional<TextFormat> format = {});

}  // namespace headlight
