// Learning the pieces of a unigram model.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "headlight/text/tokenizers/byte_pair_training.h"

namespace headlight {

// Pieces and their log probabilities, the likeliest first: at most `size`, and every character of the words among them.
// Begins with all parts of words that repeat, and takes away, again and again, those without which the words stay
// likeliest, while expectation and maximisation give the rest their probabilities (Kudo, "Subword Regularization",
// 2018). `size` must be at least the number of characters. The same words give the same pieces, whatever the threads.
std::vector<std::pair<std::string, double>> TrainUnigram(const std::vector<CountedWord>& words, std::size_t size,
                                                         const TrainingProgressCallback& progress);

}  // namespace headlight
