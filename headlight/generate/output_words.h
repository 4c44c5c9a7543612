// What a decoding step may write: the words of the output layer and their probabilities.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "headlight/generate/shortlist.h"
#include "headlight/kernels/top_k.h"
#include "headlight/nn/encoder_decoder.h"

namespace headlight {

class OutputWords {
 public:
  // With a shortlist, the words are those of any of the source sentences, and each sentence has its own of them.
  OutputWords(const EncoderDecoder& model, Context& context, const Shortlist* shortlist,
              std::span<const std::int32_t> source_ids, const Sequences& sources);

  // The `count` likeliest words after each hidden state [rows, model], where row i belongs to source sentence
  // sentences[i], with the logarithms of their probabilities. What may not be written (padding, words outside the
  // sentence's list, the end unless it `may_end`) is not among them but where there is nothing else, and then has
  // -infinity. As Transformers has it, the probability of padding is not given to the others.
  kernels::TopLogits<float> Likeliest(Context& context, const Tensor& hidden, std::span<const std::size_t> sentences,
                                      bool may_end, std::int64_t count) const;

 private:
  std::int32_t ColumnOf(std::int32_t word) const;

  const EncoderDecoder& model_;
  std::vector<std::int32_t> words_;                 // ascending; empty: the whole vocabulary
  std::vector<std::vector<std::int32_t>> outside_;  // of each source sentence, the columns that are not on its list
  ops::Weight weight_;                              // the rows of words_
  kernels::PackedMatrix<float> packed_;
  Tensor bias_;
};

}  // namespace headlight
