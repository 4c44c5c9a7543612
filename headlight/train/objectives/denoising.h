// BART's text infilling and sentence permutation (Lewis et al., "BART", 2020, section 2.2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/train/objectives/corrupted_texts.h"

namespace headlight {

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

// Learns to write the text of which a noised one is read. The texts are ids alone. Throws Error for a text that is
// longer than the model.
HEADLIGHT_API TrainingTask DenoisingTask(EncoderDecoder& model, const TextSets& texts, const AroundTexts& around,
                                         const NoiseOptions& noise, const TeacherForcingOptions& options);

}  // namespace headlight
