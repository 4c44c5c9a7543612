// The output layer of a decoding step, over the whole vocabulary or shortlists.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/generate/choose_tokens.h"
#include "headlight/kernels/top_k.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/context.h"
#include "headlight/ops/linear.h"

namespace headlight {

/// A model's output projection to one logit per token: hidden weight^T + bias, with an optional soft cap.
struct OutputLayer {
  const Model* model = nullptr;
  std::function<ops::Weight(Context&)> weight;  ///< [vocab, model]
  std::function<Tensor(Context&)> bias;         ///< [vocab] or empty
  std::int64_t vocabulary = 0;
  std::int32_t pad_id = -1;  ///< -1: none
  std::int32_t end_id = -1;  ///< in every list
  double logit_cap = 0;      ///< if positive, the cap of ops::SoftCap
};

class OutputTokens {
 public:
  /// With lists of tokens, each ascending, the layer has the union of the lists. Each row uses one list.
  OutputTokens(OutputLayer layer, Context& context, const std::vector<std::vector<std::int32_t>>& lists);

  /// The `count` most probable tokens after each hidden state [rows, model], with their log-probabilities. Row i uses
  /// list lists[i]. `excluded` tokens and those outside the list have -infinity. As in Transformers, excluding tokens
  /// does not renormalize the probabilities.
  kernels::TopLogits<float> Likeliest(Context& context, const Tensor& hidden, std::span<const std::size_t> lists,
                                      std::span<const std::int32_t> excluded, std::int64_t count) const;

  /// The same with logits processors or sampling, for the texts that the tokens extend (ChooseTokens).
  kernels::TopLogits<float> Choose(Context& context, const Tensor& hidden, std::span<const std::size_t> lists,
                                   std::span<const Unfinished> texts, const SearchOptions& options, std::int32_t length,
                                   std::int64_t count) const;

 private:
  void Cap(Matrix<float> scores) const;
  kernels::TopLogits<float> LikeliestOfLists(const Tensor& hidden, std::span<const std::size_t> lists,
                                             std::span<const std::int32_t> excluded, std::int64_t count) const;
  // The logits of the whole vocabulary, [rows, vocab]; -infinity outside a row's list.
  Tensor Logits(Context& context, const Tensor& hidden, std::span<const std::size_t> lists) const;

  OutputLayer layer_;
  std::vector<std::int32_t> tokens_;                // ascending; empty: the whole vocabulary
  std::vector<std::vector<std::int32_t>> columns_;  // for each list, the indices of its tokens in tokens_
  kernels::PackedMatrix<float> packed_;             // the rows of tokens_, transposed
  Tensor bias_;
};

}  // namespace headlight
