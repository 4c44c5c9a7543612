// BART's text infilling and sentence permutation (Lewis et al., "BART", 2020, section 2.2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/train/objectives/corrupted_texts.h"

namespace headlight {

struct NoiseOptions {
  double share = 0.3;                            // fraction of the tokens that are hidden, in spans
  double mean_length = 3;                        // mean of a span's Poisson-distributed length, which can be 0
  std::int32_t mask_id = 0;                      // replaces each span
  std::vector<std::int32_t> sentence_ends = {};  // tokens that end a sentence, in ascending order
};

/// Permutes the text's sentences and replaces spans with mask tokens. At least one token is hidden, and there are no
/// more spans than hidden tokens. The spans' positions are uniformly distributed.
HEADLIGHT_API std::vector<std::int32_t> AddNoise(std::span<const std::int32_t> text, const NoiseOptions& noise,
                                                 Random& random);

/// Trains the model to reconstruct a text from its noised version. Only the ids of the texts are used. Throws Error for
/// a text that does not fit into the model's positions.
HEADLIGHT_API TrainingTask DenoisingTask(EncoderDecoder& model, const TextSets& texts, const AroundTexts& around,
                                         const NoiseOptions& noise, const TeacherForcingOptions& options);

}  // namespace headlight
