// Helpers shared by span corruption and denoising. Both make source-target pairs from texts, with different pairs in
// each epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/train/objectives/sequences.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {

/// The special tokens around every source text. The tokens `before` also start every target text.
struct AroundTexts {
  std::vector<std::int32_t> before, after;
};

std::vector<std::int32_t> Surrounded(const AroundTexts& around, std::span<const std::int32_t> ids);

/// Throws Error if an option is out of range.
void CheckHiding(double share, double mean_length);

/// Returns the number of tokens of a text to hide, at least one.
std::size_t HiddenTokens(std::size_t tokens, double share);

/// Places `dividers` dividers at random among `items` items, uniformly over all arrangements. Returns the numbers of
/// items before the first divider, between consecutive dividers, and after the last divider.
std::vector<std::size_t> Divide(std::size_t items, std::size_t dividers, Random& random);

/// The functions that make a source-target pair from a text.
struct Corruption {
  std::function<std::size_t(std::size_t tokens)>
      longest;  // length of the longer side of a pair made from this many tokens
  std::function<SequenceExample(std::span<const std::int32_t> text, Random& random)> make;
};

/// Trains on pairs made from texts. The pairs are different in each epoch, and the same in every validation.
/// Validations report only the loss. Throws Error for a text that does not fit into the model's positions.
TrainingTask CorruptionTask(EncoderDecoder& model, const TextSets& texts, const Corruption& corruption,
                            const TeacherForcingOptions& options);

}  // namespace headlight
