// Chooses the next tokens of a running batch's texts from a model's hidden states.
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

/// The output projection of a model, which must outlive it. Throws Error if a language model has none.
OutputLayer OutputOf(const LanguageModel& model);
OutputLayer OutputOf(const ConditionalDecoder& model);

class NextTokens {
 public:
  /// `shortlist` limits each text's vocabulary; null: the whole vocabulary. It must outlive this object.
  NextTokens(OutputLayer output, const Shortlist* shortlist) : output_(std::move(output)), shortlist_(shortlist) {}

  std::int64_t vocabulary() const { return output_.vocabulary; }
  bool has_shortlist() const { return shortlist_ != nullptr; }

  /// Prepares the output layer for the shortlists of these texts, if they have changed.
  void UpdateLists(Context& context, const std::vector<std::unique_ptr<Search>>& searches);

  /// The most probable or sampled tokens after each beam of searches with the same options. `banned` has the tokens
  /// that are not allowed after each beam, or is empty. Throws Error if the model gives NaN.
  kernels::TopLogits<float> After(Context& context, const std::vector<Ready>& group, const Tensor& hidden,
                                  std::vector<std::vector<std::int32_t>>& banned) const;

  /// The most probable tokens after each of the states [tokens, model] of one text's drafts. Rows may have NaN (see
  /// CheckFinite).
  kernels::TopLogits<float> AfterDrafts(Context& context, const Search& search, const Tensor& hidden) const;

  /// Throws Error if a row has NaN. `length` includes the token that is chosen.
  void CheckFinite(const kernels::TopLogits<float>& likeliest, std::int64_t row, std::int32_t length) const;

 private:
  // The end tokens if the text may not end yet, and the padding token if it is excluded.
  std::vector<std::int32_t> NeverNext(const Search& search) const;
  // The shift of guided logits: Transformers combines log-probabilities. Throws Error if the model gives NaN.
  std::vector<float> ShiftsOf(Context& context, const Tensor& conditional, const Tensor& unconditional,
                              std::span<const std::size_t> lists, double guidance, std::int32_t length) const;

  OutputLayer output_;
  const Shortlist* shortlist_;
  std::int64_t newest_ = -1;  // the id of the last text with a list in tokens_
  std::unique_ptr<OutputTokens> tokens_;
};

}  // namespace headlight
