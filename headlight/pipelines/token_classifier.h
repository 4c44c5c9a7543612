// Token classification: named entities and other spans of texts.
//   const TokenClassifier tagger = TokenClassifier::Load("bert-ner");
//   const std::vector<NamedSpan> spans = tagger.Tag("Ada lived in London.");  // PER "Ada", LOC "London"
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct EncoderFolder;

/// The aggregation of token labels into spans, like `aggregation_strategy` in Transformers' pipeline.
enum class TagAggregation {
  none,     ///< each token is a span, with its whole label
  simple,   ///< neighboring tokens of one kind form a span, which may begin or end within a word
  first,    ///< neighboring words of one kind are a span; a word has the label of its first token
  average,  ///< a word has the label with the highest mean probability
  max,      ///< a word has the label of its most probable token
};

struct TagOptions {
  std::int64_t batch_tokens = 512;  ///< tokens that are encoded at once, at least 1
  std::optional<std::int64_t> max_input_length =
      {};  ///< tokens of a window, at most the model's positions, which are the default
  /// The overlap of adjacent windows, in tokens. If set, the spans of each window are found separately. Among
  /// overlapping spans, the longest span is kept. Among equally long spans, the span with the highest score is kept.
  /// This is the rule of Transformers' pipeline. Not available for `none`.
  std::optional<std::int64_t> stride = {};
  /// Only for `none`: the number of labels per token, the most probable first, including O. Each label is returned as a
  /// span. By default there is one span for each token whose most probable label is not O.
  std::optional<std::int64_t> top_k = {};
  std::optional<TagAggregation> aggregation =
      {};  ///< default: `first`, or `simple` if there are labels S-X or E-X (BIOES)
  std::function<std::string(std::size_t text)> name_of = {};  ///< text name in error messages; "text 1" by default
};

/// A labeled part of a text.
struct NamedSpan {
  std::string text;                 ///< the words of the span
  std::string label;                ///< without B-, I-, E- or S-, except with TagAggregation::none
  float score = 0;                  ///< the mean probability of the labels of the span's words or tokens, 0 to 1
  std::int32_t start = 0, end = 0;  ///< [start, end) in characters (Unicode code points) of the text, from 0
};

/// Finds labeled spans in texts. Immutable and cheap to copy. All methods are thread-safe.
class HEADLIGHT_API TokenClassifier {
 public:
  /// Loads the folder of a model with a token classification head, such as a BERT. Throws Error that names the file and
  /// the problem if a file is invalid or not supported.
  static TokenClassifier Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the spans of each text, in order. A span begins at a label B-X, or at I-X or X after a label of another
  /// kind. The span continues while words (or tokens, see TagAggregation) have the label I-X or X. O means no label.
  /// Other labels, such as E-X, are only continued by the same label.
  ///
  /// A text with more tokens than the model accepts is split into windows that overlap by a quarter. The label of a
  /// token is taken from the window in which the token is farthest from the edges, unless TagOptions::stride is set.
  /// Throws Error for an option out of its range. Throws Error naming the text if it is not UTF-8.
  std::vector<std::vector<NamedSpan>> Tag(std::span<const std::string> texts, const TagOptions& options = {}) const;
  std::vector<std::vector<NamedSpan>> Tag(std::initializer_list<std::string> texts,
                                          const TagOptions& options = {}) const {
    return Tag(std::span(texts.begin(), texts.size()), options);
  }
  /// Returns the spans of one text, in order.
  std::vector<NamedSpan> Tag(std::string_view text, const TagOptions& options = {}) const {
    return Tag({std::string(text)}, options).front();
  }

 private:
  explicit TokenClassifier(std::shared_ptr<const EncoderFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const EncoderFolder> loaded_;
};

}  // namespace headlight
