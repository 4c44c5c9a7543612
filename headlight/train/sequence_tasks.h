// What models that read one sequence and write another learn: pairs, hidden spans, texts that were broken.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/nn/encoder_decoder.h"
#include "headlight/train/text_tasks.h"
#include "headlight/train/trainer.h"

namespace headlight {

// The tokens of a pair.
struct SequenceExample {
  std::vector<std::int32_t> source, target;
  bool operator==(const SequenceExample&) const = default;
};

// What is learned from and what is validated on: each source with what the model expects around a text, each target
// with what stands before it and without its end. They must outlive the task.
struct SequenceSets {
  std::vector<SequenceExample> train, valid;
  std::vector<std::string> valid_sources;                                // as texts, for the samples of a report
  std::function<std::string(std::span<const std::int32_t> ids)> decode;  // ids to text
};

// Teacher forcing on pairs. A validation's score is the share of the sources whose greedy text is the target, in per
// cent. Throws Error for a sequence that is longer than the model.
HEADLIGHT_API TrainingTask SequenceTask(EncoderDecoder& model, const SequenceSets& sets,
                                        const TrainingOptions& options);

HEADLIGHT_API std::uint64_t HashOfSequences(const std::vector<SequenceExample>& examples);

// T5's hidden spans (Raffel et al., 2020, section 3.1.4).
struct SpanOptions {
  double share = 0.15;                       // of the tokens that are hidden, in spans
  double mean_length = 3;                    // of a span
  std::vector<std::int32_t> sentinels = {};  // <extra_id_0> and on: one for each span, and one for the end
};

// The text with a sentinel for each span, and the spans, each behind its sentinel, with another sentinel at the end. At
// least one token is hidden, spans do not touch each other, and every way to place them is as likely.
HEADLIGHT_API SequenceExample HideSpans(std::span<const std::int32_t> text, const SpanOptions& spans, Random& random);

// BART's infilling and sentence permutation (Lewis et al., 2020, section 2.2).
struct NoiseOptions {
  double share = 0.3;                            // of the tokens that are hidden, in spans
  double mean_length = 3;                        // of a span, by Poisson's distribution: some have no token at all
  std::int32_t mask_id = 0;                      // stands for each span
  std::vector<std::int32_t> sentence_ends = {};  // tokens, in ascending order, behind which a sentence ends
};

// The text's sentences in another order, with a mask for each span. At least one token is hidden, there are no more
// spans than hidden tokens, and every way to place them is as likely.
HEADLIGHT_API std::vector<std::int32_t> AddNoise(std::span<const std::int32_t> text, const NoiseOptions& noise,
                                                 Random& random);

// What stands around every text that is read, and before every text that is written.
struct AroundTexts {
  std::vector<std::int32_t> before, after;
};

// Other spans of a text in each epoch, and the same ones at every validation, which has no score but the loss. The
// texts are ids alone. Throws Error for a text that is longer than the model or needs more sentinels than there are.
HEADLIGHT_API TrainingTask SpanCorruptionTask(EncoderDecoder& model, const TextSets& texts, const AroundTexts& around,
                                              const SpanOptions& spans, const TrainingOptions& options);

// Likewise, to write the whole text of which a broken one is read.
HEADLIGHT_API TrainingTask DenoisingTask(EncoderDecoder& model, const TextSets& texts, const AroundTexts& around,
                                         const NoiseOptions& noise, const TrainingOptions& options);

}  // namespace headlight
