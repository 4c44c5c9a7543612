// Trains a unigram model.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "headlight/text/tokenizers/byte_pair_training.h"

namespace headlight {

/// Returns at most `size` pieces with their log probabilities, in descending order of probability. Every character of
/// the words is a piece, so `size` must be at least the number of characters. Starts from all repeated substrings of
/// words. Alternates EM steps with pruning the pieces whose removal decreases the likelihood the least (Kudo, "Subword
/// Regularization", 2018). The result does not depend on the number of threads.
std::vector<std::pair<std::string, double>> TrainUnigram(const std::vector<CountedWord>& words, std::size_t size,
                                                         const TrainingProgressCallback& progress);

}  // namespace headlight
