// BERT's masked words (Devlin et al., "BERT", 2019, section 3.1, task 1).
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {

struct MaskingOptions {
  double share = 0.15;                         // mask rate: of the tokens that are predicted
  bool whole_words = false;                    // all of a word's tokens or none
  std::int32_t mask_id = 0;                    // replaces 8 in 10 of them; 1 in 10 becomes any token, 1 in 10 stays
  std::vector<std::int32_t> special_ids = {};  // that no other token becomes
};

// A text's tokens with some of them masked.
struct MaskedText {
  std::vector<std::int32_t> ids, labels;  // [tokens]; labels: what a masked token was, -1 of others
};
MaskedText MaskWords(const TextExample& text, const MaskingOptions& masking, std::int64_t vocabulary, Random& random);

// Masks other tokens of a text in each epoch (Liu et al., "RoBERTa", 2019, section 4.1), and the same ones at every
// validation, whose score is the share of them that is predicted, in per cent. Validations also report bits_per_mask,
// the mean of -log2 p of the tokens that the mask hides: of a language model of proteins the bits per residue.
HEADLIGHT_API TrainingTask MaskedLanguageModelTask(TextEncoder& model, const TextSets& texts,
                                                   const MaskingOptions& masking, const BatchOptions& batches);

/// The loss, the accuracy and the bits_per_mask on `texts`, which are the task's validation.
HEADLIGHT_API ValidationReport ValidateMaskedWords(const TextEncoder& model, const std::vector<TextExample>& texts,
                                                   const MaskingOptions& masking, const PassWatch& watch = {});

}  // namespace headlight
