// The output layer of a decoding step, for the whole vocabulary or for shortlists.
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

/// A model's output projection, which computes one logit per token: hidden weight^T + bias, with an optional soft cap.
struct OutputLayer {
  const Model* model = nullptr;
  std::function<ops::Weight(Context&)> weight;  ///< [vocab, model]
  std::function<Tensor(Context&)> bias;         ///< [vocab] or empty
  std::int64_t vocabulary = 0;
  std::int32_t pad_id = -1;  ///< -1 if there is none
  std::int32_t end_id = -1;  ///< included in every list
  double logit_cap = 0;      ///< if positive, the cap of ops::SoftCap
};

class OutputTokens {
 public:
  /// Prepares the layer. `lists` has lists of tokens in ascending order. If there are any, the layer computes the
  /// logits of their union. Each row uses one list.
  OutputTokens(OutputLayer layer, Context& context, const std::vector<std::vector<std::int32_t>>& lists);

  /// Returns the `count` most probable tokens after each hidden state [rows, model], with their log-probabilities. Row
  /// i uses list lists[i]. Tokens in `excluded` or outside the list have -infinity. As in Transformers, excluding
  /// tokens does not renormalize the probabilities.
  kernels::TopLogits<float> MostLikely(Context& context, const Tensor& hidden, std::span<const std::size_t> lists,
                                       std::span<const std::int32_t> excluded, std::int64_t count) const;

  /// Returns the next tokens of `texts` with logits processors or sampling (ChooseTokens).
  kernels::TopLogits<float> Choose(Context& context, const Tensor& hidden, std::span<const std::size_t> lists,
                                   std::span<const Unfinished> texts, const SearchOptions& options, std::int32_t length,
                                   std::int64_t count) const;

 private:
  void Cap(Matrix<float> scores) const;
  kernels::TopLogits<float> LikeliestOfLists(const Tensor& hidden, std::span<const std::size_t> lists,
                                             std::span<const std::int32_t> excluded, std::int64_t count) const;
  // Returns the logits of the whole vocabulary, [rows, vocab], with -infinity outside a row's list.
  Tensor Logits(Context& context, const Tensor& hidden, std::span<const std::size_t> lists) const;

  OutputLayer layer_;
  std::vector<std::int32_t> tokens_;                // in ascending order; empty: the whole vocabulary
  std::vector<std::vector<std::int32_t>> columns_;  // for each list, the indices of its tokens in tokens_
  kernels::PackedMatrix<float> packed_;             // the rows of the weight for tokens_, transposed
  Tensor bias_;
};

}  // namespace headlight
