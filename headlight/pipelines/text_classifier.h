// Classification of texts and of pairs of texts.
//   const TextClassifier classifier = TextClassifier::Load("sst2");
//   Tensor scores = classifier.Classify({{"A fine film."}, {"It rains.", "It is wet."}}).scores;  // [2, labels]
//   classifier.labels()[0]  // the label of column 0
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
#include "headlight/nn/problem.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

struct EncoderFolder;

struct ClassifyOptions {
  std::int64_t batch_tokens = 512;  // tokens that are encoded at once
  bool truncate = false;            // cuts the end of the longer text of too many tokens; else that is an Error
  std::function<std::string(std::size_t text)> name_of = {};  // a text's in errors; "text 1" unless given
};

struct TextOrPair {
  std::string first;
  std::optional<std::string> second = {};
};

struct Classified {
  Tensor scores;                        // [texts, labels]: probabilities, or for Problem::number the outputs
  std::vector<std::int64_t> truncated;  // indices of the texts that were cut
};

// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API TextClassifier {
 public:
  // A folder of an encoder with a head for classes of texts. Throws Error naming the file and what is wrong with it or
  // not supported.
  static TextClassifier Load(const std::string& folder, const LoadOptions& options = {});

  // The scores of every label for each text or pair. Throws Error naming the text where one is not UTF-8, has no
  // tokens, or is too long and not to be truncated.
  Classified Classify(std::span<const TextOrPair> texts, const ClassifyOptions& options = {}) const;
  Classified Classify(std::initializer_list<TextOrPair> texts, const ClassifyOptions& options = {}) const {
    return Classify(std::span(texts.begin(), texts.size()), options);
  }

  const std::vector<std::string>& labels() const;  // by column of the scores
  Problem problem() const;                         // one label for each text, any number, or a number
  std::int64_t longest() const;                    // tokens, special ones included

 private:
  explicit TextClassifier(std::shared_ptr<const EncoderFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const EncoderFolder> loaded_;
};

}  // namespace headlight
