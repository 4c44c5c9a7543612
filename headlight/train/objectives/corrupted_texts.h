// Shared by span corruption and denoising: pairs that are made of texts, others in each epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/train/objectives/sequences.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {

// The special tokens around every text that is read; those before it begin every text that is written.
struct AroundTexts {
  std::vector<std::int32_t> before, after;
};

std::vector<std::int32_t> Surrounded(const AroundTexts& around, std::span<const std::int32_t> ids);

// Throws Error for impossible options.
void CheckHiding(double share, double mean_length);

// How many tokens of a text are hidden: at least one.
std::size_t HiddenTokens(std::size_t tokens, double share);

// How many items stand before the first of so many dividers, between each two and behind the last. Every arrangement is
// as likely.
std::vector<std::size_t> Divide(std::size_t items, std::size_t dividers, Random& random);

// How texts become pairs.
struct Corruption {
  std::function<std::size_t(std::size_t tokens)> longest;  // the longer side that a text of so many tokens gives
  std::function<SequenceExample(std::span<const std::int32_t> text, Random& random)> make;
};

// Pairs made anew in each epoch, and the same ones at every validation, whose score is the loss alone. Throws Error for
// a text that is longer than the model.
TrainingTask CorruptionTask(EncoderDecoder& model, const TextSets& texts, const Corruption& corruption,
                            const TeacherForcingOptions& options);

}  // namespace headlight
