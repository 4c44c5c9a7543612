// Predictions for the masked tokens of texts.
//   const MaskFiller filler = MaskFiller::Load("bert-base-uncased");
//   const FilledMask tokens = filler.Fill("A dog [MASK] across the meadow.")[0];  // tokens[0].text is "runs"
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/pipelines/load_options.h"

namespace headlight {

struct FillOptions {
  std::int64_t top_k = 5;           ///< predictions for each mask, at least 1
  std::int64_t batch_tokens = 512;  ///< tokens that are encoded at once, at least 1
  bool truncate = false;  ///< if true, truncates a text that has too many tokens; otherwise such a text is an error
  std::function<std::string(std::size_t text)> name_of = {};  ///< text name in error messages; "text 1" by default
  std::function<void(std::size_t text)> on_truncated = {};    ///< called with the index of each truncated text
};

/// A token that may replace a mask.
struct FilledToken {
  std::string text;  ///< the token as decoded text
  std::int32_t id = 0;
  float score = 0;  ///< the probability of the token, 0 to 1
};
using FilledMask = std::vector<FilledToken>;  ///< the predictions for one mask, the best first

/// Predicts masked tokens. Immutable and cheap to copy. All methods are thread-safe.
class HEADLIGHT_API MaskFiller {
 public:
  /// Loads the folder of a masked language model, such as a BERT. Throws Error that names the file and the problem if a
  /// file is invalid or not supported, and if the tokenizer has no mask token.
  static MaskFiller Load(const std::string& folder, const LoadOptions& options = {});

  /// Returns predictions for the masks of each text, in order. Throws Error that names the text if it has no mask, is
  /// not UTF-8, or has more tokens than the model accepts and `truncate` is not set.
  std::vector<std::vector<FilledMask>> Fill(std::span<const std::string> texts, const FillOptions& options = {}) const;
  std::vector<std::vector<FilledMask>> Fill(std::initializer_list<std::string> texts,
                                            const FillOptions& options = {}) const {
    return Fill(std::span(texts.begin(), texts.size()), options);
  }
  /// Returns predictions for the masks of one text, in order.
  std::vector<FilledMask> Fill(std::string_view text, const FillOptions& options = {}) const {
    return Fill({std::string(text)}, options).front();
  }

  const std::string& mask() const;  ///< the mask token as it is written in texts, such as [MASK]
  std::int64_t longest() const;     ///< maximum number of tokens of a text, including special tokens
  bool reads_proteins() const;      ///< true for an ESM, whose texts are protein sequences

 private:
  struct State;
  explicit MaskFiller(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
