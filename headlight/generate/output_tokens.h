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

// A model's projection of hidden states to a score for each token: hidden weight^T + bias, capped.
struct OutputLayer {
  const Model* model = nullptr;
  std::function<ops::Weight(Context&)> weight;  // [vocab, model]
  std::function<Tensor(Context&)> bias;         // [vocab] or empty
  std::int64_t vocabulary = 0;
  std::int32_t pad_id = -1;  // -1: none
  std::int32_t end_id = -1;  // on every list
  double logit_cap = 0;      // where positive, as by ops::SoftCap
};

class OutputTokens {
 public:
  // With lists of tokens, each ascending, the layer has the tokens of all of them; a row may use those of its list.
  OutputTokens(OutputLayer layer, Context& context, const std::vector<std::vector<std::int32_t>>& lists);

  // The `count` likeliest tokens after each hidden state [rows, model], where row i has list lists[i], with their
  // log-probabilities. `excluded` tokens and those outside the list have -infinity. As in Transformers, probabilities
  // are not renormalised without excluded ones.
  kernels::TopLogits<float> Likeliest(Context& context, const Tensor& hidden, std::span<const std::size_t> lists,
                                      std::span<const std::int32_t> excluded, std::int64_t count) const;

  // The same under logits processors or by sampling, for the texts that the tokens extend (ChooseTokens).
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
  std::vector<std::vector<std::int32_t>> columns_;  // of each list, its tokens' places in tokens_
  kernels::PackedMatrix<float> packed_;             // the rows of tokens_, transposed
  Tensor bias_;
};

}  // namespace headlight
