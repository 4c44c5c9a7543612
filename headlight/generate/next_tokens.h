// Chooses the next tokens of the texts of a running batch from a model's hidden states.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "headlight/generate/output_tokens.h"
#include "headlight/generate/search.h"
#include "headlight/generate/shortlist.h"
#include "headlight/kernels/top_k.h"
#include "headlight/kinds/conditional_decoder.h"
#include "headlight/kinds/language_model.h"

namespace headlight {

/// Returns the output projection of a model. The model must outlive it. Throws Error if a language model has no output
/// projection.
OutputLayer OutputOf(const LanguageModel& model);
OutputLayer OutputOf(const ConditionalDecoder& model);

class NextTokens {
 public:
  /// `shortlist`, which must outlive this object, limits each text's vocabulary. If null, all tokens are possible.
  NextTokens(OutputLayer output, const Shortlist* shortlist) : output_(std::move(output)), shortlist_(shortlist) {}

  std::int64_t vocabulary() const { return output_.vocabulary; }
  bool has_shortlist() const { return shortlist_ != nullptr; }

  /// Prepares the output layer for the shortlists of these texts, if they have changed.
  void UpdateLists(Context& context, const std::vector<std::unique_ptr<Search>>& searches);

  /// Returns the most probable or sampled tokens after each beam of `group`, a set of searches with the same options.
  /// `banned` is set to the tokens that are not allowed after each beam, or is empty. Throws Error if the model
  /// computes NaN.
  kernels::TopLogits<float> After(Context& context, const std::vector<Ready>& group, const Tensor& hidden,
                                  std::vector<std::vector<std::int32_t>>& banned) const;

  /// Returns the most probable tokens after each draft token of a text. `hidden` has the states [tokens, model] of the
  /// draft tokens. Rows may have NaN (see CheckFinite).
  kernels::TopLogits<float> AfterDrafts(Context& context, const Search& search, const Tensor& hidden) const;

  /// Throws Error if a row has NaN. `length` includes the token to choose.
  void CheckFinite(const kernels::TopLogits<float>& likeliest, std::int64_t row, std::int32_t length) const;

 private:
  // Returns the tokens that are not allowed next. These are the end tokens if the text must continue, and the padding
  // token if it is excluded.
  std::vector<std::int32_t> NeverNext(const Search& search) const;
  // Returns the shift of guided logits. The shift is needed because Transformers combines log-probabilities instead of
  // logits. Throws Error if the model computes NaN.
  std::vector<float> ShiftsOf(Context& context, const Tensor& conditional, const Tensor& unconditional,
                              std::span<const std::size_t> lists, double guidance, std::int32_t length) const;

  OutputLayer output_;
  const Shortlist* shortlist_;
  std::int64_t newest_ = -1;  // id of the last text with a list in tokens_
  std::unique_ptr<OutputTokens> tokens_;
};

}  // namespace headlight
