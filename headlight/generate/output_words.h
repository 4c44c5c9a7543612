// The output layer of a decoding step, over the whole vocabulary or a shortlist.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "headlight/generate/choose_words.h"
#include "headlight/generate/shortlist.h"
#include "headlight/kernels/top_k.h"
#include "headlight/nn/conditional_decoder.h"

namespace headlight {

class OutputWords {
 public:
  // With a shortlist, the layer has the tokens of all source sentences, of which each sentence may use its own.
  OutputWords(const ConditionalDecoder& model, Context& context, const Shortlist* shortlist,
              std::span<const std::int32_t> source_ids, const Sequences& sources);

  // The `count` likeliest tokens after each hidden state [rows, model], where row i belongs to source sentence
  // sentences[i], with their log-probabilities. Excluded tokens (padding, those outside the sentence's list, `ends`)
  // have -infinity. As in Transformers, probabilities are not renormalised without padding.
  kernels::TopLogits<float> Likeliest(Context& context, const Tensor& hidden, std::span<const std::size_t> sentences,
                                      std::span<const std::int32_t> ends, std::int64_t count) const;

  // The same under logits processors or by sampling, for the texts that the tokens extend (ChooseWords).
  kernels::TopLogits<float> Choose(Context& context, const Tensor& hidden, std::span<const std::size_t> sentences,
                                   std::span<const Unfinished> texts, const ChoiceRules& rules, std::int32_t length,
                                   std::int64_t count) const;

 private:
  // The logits of the whole vocabulary, [rows, vocab]; -infinity outside a sentence's list.
  Tensor Logits(Context& context, const Tensor& hidden, std::span<const std::size_t> sentences) const;

  const ConditionalDecoder& model_;
  std::vector<std::int32_t> words_;                 // ascending; empty: the whole vocabulary
  std::vector<std::vector<std::int32_t>> outside_;  // of each source sentence, the columns outside its list
  ops::Weight weight_;                              // the rows of words_
  kernels::PackedMatrix<float> packed_;
  Tensor bias_;
};

}  // namespace headlight
