// Classification of texts and pairs of texts.
//   const TextClassifier classifier = TextClassifier::Load("sst2");
//   const std::vector<LabelScore> labels = classifier.Classify("A fine film.");  // labels[0].label is the best
//   auto best = classifier.Classify({{"A fine film."}, {"It rains.", "It is wet."}}, {.top_k = 1});
//   fmt::print("{}\n", best[1][0].score);
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
#include "headlight/nn/problem.h"
#include "headlight/pipelines/label_score.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct EncoderFolder;

struct ClassifyOptions {
  std::optional<std::int64_t> top_k = {};  ///< labels per text, at least 1; all if it is not set
  std::int64_t batch_tokens = 512;         ///< tokens that are encoded at once, at least 1
  bool truncate = false;  ///< if true, truncates a text that has too many tokens; otherwise such a text is an error
  std::function<std::string(std::size_t text)> name_of = {};  ///< text name in error messages; "text 1" by default
  std::function<void(std::size_t text)> on_truncated = {};    ///< called with the index of each truncated text
};

/// A text, or a pair of texts such as a premise and a hypothesis.
struct TextOrPair {
  std::string first;
  std::optional<std::string> second = {};
};

/// Classifies texts and pairs of texts. Immutable and cheap to copy. All methods are thread-safe.
class HEADLIGHT_API TextClassifier {
 public:
  /// Loads the folder of a model with a text classification head, such as a BERT. Throws Error that names the file and
  /// the problem if a file is invalid or not supported.
  static TextClassifier Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns the labels of each text or pair with their scores, the highest score first (see LabelScores). Throws Error
  /// that names the text if it is not UTF-8, has no tokens, or has more than longest() and `truncate` is not set.
  std::vector<std::vector<LabelScore>> Classify(std::span<const TextOrPair> texts,
                                                const ClassifyOptions& options = {}) const;
  std::vector<std::vector<LabelScore>> Classify(std::initializer_list<TextOrPair> texts,
                                                const ClassifyOptions& options = {}) const {
    return Classify(std::span(texts.begin(), texts.size()), options);
  }
  /// Returns the labels of one text.
  std::vector<LabelScore> Classify(std::string_view text, const ClassifyOptions& options = {}) const;

  /// Returns the scores of all labels, [texts, labels] in float32: probabilities, or for Problem::number the model's
  /// outputs. `top_k` is ignored. Throws the same errors as Classify.
  Tensor Scores(std::span<const TextOrPair> texts, const ClassifyOptions& options = {}) const;

  const std::vector<std::string>& labels() const;  ///< in the order of the columns of Scores
  Problem problem() const;                         ///< one label per text, any number of labels, or regression
  std::int64_t longest() const;                    ///< maximum number of tokens of a text, including special tokens

 private:
  explicit TextClassifier(std::shared_ptr<const EncoderFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const EncoderFolder> loaded_;
};

}  // namespace headlight
