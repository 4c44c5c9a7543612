// Classification of texts and of pairs of texts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/nn/problem.h"
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
class HEADLIGHT_API Classifier {
 public:
  // A folder of an encoder with a head for classes of texts. Throws Error naming the file and what is wrong with it or
  // not supported.
  static Classifier Load(const std::string& folder, std::optional<Compute> compute = {});

  Classified Classify(std::span<const TextOrPair> texts, const ClassifyOptions& options = {}) const;

  const std::vector<std::string>& labels() const;
  Problem problem() const;
  std::int64_t longest() const;  // tokens, special ones included

 private:
  explicit Classifier(std::shared_ptr<const EncoderFolder> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<const EncoderFolder> loaded_;
};

}  // namespace headlight
