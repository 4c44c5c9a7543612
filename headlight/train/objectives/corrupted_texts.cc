#include "headlight/train/objectives/corrupted_texts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

TokenExamples ExamplesOf(const EncoderDecoder& model, const std::vector<TextExample>& texts,
                         const Corruption& corruption, const char* purpose) {
  Check(!texts.empty(), "there is no text to {}", purpose);
  const EncoderDecoder::Limits limits = model.limits();
  std::vector<std::size_t> lengths;
  for (const TextExample& text : texts) {
    Check(!text.ids.empty(), "text {} to {} has no tokens", lengths.size() + 1, purpose);
    lengths.push_back(corruption.longest(text.ids.size()));
    Check(std::cmp_less_equal(lengths.back(), limits.positions),
          "text {} to {}: with its special tokens, its {} tokens become {}, but the model reads and writes at most {}",
          lengths.size(), purpose, text.ids.size(), lengths.back(), limits.positions);
  }
  return {.size = std::ssize(texts),
          .length = [lengths = std::move(lengths)](
                        std::int64_t text) { return LengthOfPair(lengths[static_cast<std::size_t>(text)], 0); },
          .append =
              [&texts, limits, make = corruption.make](std::int64_t text, Random& random, TokenBatch& batch) {
                const SequenceExample pair = make(texts[static_cast<std::size_t>(text)].ids, random);
                AppendPair(pair.source, pair.target, limits.start_id, limits.end_id, batch);
              }};
}

}  // namespace

std::vector<std::int32_t> Surrounded(const AroundTexts& around, std::span<const std::int32_t> ids) {
  std::vector<std::int32_t> all = around.before;
  all.insert(all.end(), ids.begin(), ids.end());
  all.insert(all.end(), around.after.begin(), around.after.end());
  return all;
}

void CheckHiding(double share, double mean_length) {
  Check(share > 0 && share < 1, "the share of hidden tokens must be between 0 and 1, not {}", share);
  Check(mean_length >= 1 && mean_length <= 100, "a span's mean length must be from 1 to 100, not {}", mean_length);
}

std::size_t HiddenTokens(std::size_t tokens, double share) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(share * static_cast<double>(tokens))));
}

std::vector<std::size_t> Divide(std::size_t items, std::size_t dividers, Random& random) {
  std::vector<std::size_t> parts(1);
  for (std::size_t left = items + dividers; left > 0; --left) {
    if (random.Below(left) < dividers) {
      parts.push_back(0);
      --dividers;
    } else {
      ++parts.back();
    }
  }
  return parts;
}

TrainingTask CorruptionTask(EncoderDecoder& model, const TextSets& texts, const Corruption& corruption,
                            const TeacherForcingOptions& options) {
  TokenExamples train = ExamplesOf(model, texts.train, corruption, "train on");
  const auto validate = [&model,
                         valid = ExamplesOf(model, texts.valid, corruption, "validate on")](const PassWatch& watch) {
    const ReferenceLoss loss = LossOfPairs(model, valid, watch);
    return LossReport(loss.sum, loss.tokens);
  };
  return TeacherForcingTask(model, std::move(train), options, validate);
}

}  // namespace headlight
