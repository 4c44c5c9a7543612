// Token classification: names and other spans of texts.
//   const TokenClassifier tagger = TokenClassifier::Load("bert-ner");
//   std::vector<NamedSpan> spans = tagger.Tag({"Ada lived in London."})[0];  // PER "Ada", LOC "London"
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct EncoderFolder;

/// How the labels of the tokens of a word become the label of the word, as the `aggregation_strategy` of Transformers'
/// pipeline: not at all, or the first token's, that of the mean probabilities, or the most probable of its tokens'.
enum class TagAggregation { simple, first, average, max };

struct TagOptions {
  std::int64_t batch_tokens = 512;                            // tokens that are encoded at once
  std::optional<TagAggregation> aggregation = {};             // first; simple where labels are S-X or E-X (BIOES)
  std::function<std::string(std::size_t text)> name_of = {};  // a text's in errors; "text 1" unless given
};

struct NamedSpan {
  std::string label;                // without B-, I-, E- or S-
  std::int32_t begin = 0, end = 0;  // characters (Unicode code points)
  float score = 0;                  // the mean probability of its words' labels, or tokens'
  std::string text;
};

// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API TokenClassifier {
 public:
  // A folder of an encoder with a head for classes of tokens. Throws Error naming the file and what is wrong with it or
  // not supported.
  static TokenClassifier Load(const std::string& folder, const LoadOptions& options = {});

  // The spans of each text in their order: a span begins where a label B-X stands, or I-X or X behind another X's, and
  // goes on while words (or tokens, see TagAggregation) are I-X or X; O is no label, and other labels, such as E-X,
  // continue only themselves. A text of more tokens than the model reads is read in windows, of
  // which neighbours share a quarter, and a token's label is the one from the window whose edges it is farthest from.
  // Throws Error naming the text where one is not UTF-8.
  std::vector<std::vector<NamedSpan>> Tag(std::span<const std::string> texts, const TagOptions& options = {}) const;
  std::vector<std::vector<NamedSpan>> Tag(std::initializer_list<std::string> texts,
                                          const TagOptions& options = {}) const {
    return Tag(std::span(texts.begin(), texts.size()), options);
  }

 private:
  explicit TokenClassifier(std::shared_ptr<const EncoderFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const EncoderFolder> loaded_;
};

}  // namespace headlight
