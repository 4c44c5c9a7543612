// Predictions for the masked tokens of texts.
//   const MaskFiller filler = MaskFiller::Load("bert-base-uncased");
//   FilledMask words = filler.Fill({"A dog [MASK] across the meadow."})[0][0];  // words[0].text is "runs"
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct FillOptions {
  std::int64_t top = 5;                                       // predictions for each mask
  std::int64_t batch_tokens = 512;                            // tokens that are encoded at once
  std::function<std::string(std::size_t text)> name_of = {};  // a text's in errors; "text 1" unless given
};

struct FilledWord {
  std::string text;  // the token decoded alone
  std::int32_t id = 0;
  float probability = 0;
};
using FilledMask = std::vector<FilledWord>;  // the best first

// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API MaskFiller {
 public:
  // A folder of an encoder with a head for masked words. Throws Error naming the file and what is wrong with it or not
  // supported, and where its tokenizer has no mask.
  static MaskFiller Load(const std::string& folder, const LoadOptions& options = {});

  // For each text its masks in order. Throws Error for a text without a mask, or with more tokens than the model reads.
  std::vector<std::vector<FilledMask>> Fill(std::span<const std::string> texts, const FillOptions& options = {}) const;
  std::vector<std::vector<FilledMask>> Fill(std::initializer_list<std::string> texts,
                                            const FillOptions& options = {}) const {
    return Fill(std::span(texts.begin(), texts.size()), options);
  }

  const std::string& mask() const;  // as it stands in a text, such as [MASK]

 private:
  struct State;
  explicit MaskFiller(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
