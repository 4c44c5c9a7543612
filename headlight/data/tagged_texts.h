// Sentences whose words have tags, such as the names of people and places, to learn from.
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
  // Windows over the sentences, whose `labels` ask for the tag of each token, and whose `words` say which word of its
  // sentence a token is the first of; negative: of none.
  TextExamples texts;
  std::vector<std::int32_t> sentence_of;        // each of these
  std::vector<std::vector<std::int32_t>> tags;  // of each sentence's words
};

// The columns of a line of a CoNLL file, with spaces or tabs between.
HEADLIGHT_API std::vector<std::string_view> ColumnsOfConll(std::string_view line);

// The words of a record and their tags, and where in it each is.
struct TaggedRecord {
  std::vector<std::string> words, tags;
  std::vector<std::string> word_places, tag_places;
};
HEADLIGHT_API TaggedRecord TagsOf(const JsonView& record);

// CoNLL files: a word a line, its tag in the last column, an empty line between sentences; columns have spaces or tabs
// between them and are as many in every line; lines that begin with -DOCSTART- are none. Or records (HasRecords) of
// "tokens" and "tags" or "ner_tags": arrays, or texts with spaces between. The words of a sentence, with a space
// between, are read as `TokenClassifier` reads a text: in windows, and a token is asked for in that one whose edges it
// is farthest from. A word's first token has its tag; so have the others, but that I-X goes on where B-X begins, so
// that the tags of the tokens form spans again. Where new tags are added, all are put in order (SortLabels). Throws
// Error naming the line for what is not that.
HEADLIGHT_API TaggedTexts ReadTaggedTexts(const std::vector<std::string>& paths, const PipelineTokenizer& tokenizer,
                                          std::int64_t longest, std::vector<std::string>& labels, NewLabels rule,
                                          const TextShare& share = {});

}  // namespace headlight
