// BERT's masked language modeling (Devlin et al., "BERT", 2019, section 3.1, task 1).
#pragma once

#include <cstdint>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {

struct MaskingOptions {
  double share = 0.15;       // mask rate: the fraction of tokens to predict
  bool whole_words = false;  // mask either all of a word's tokens or none
  std::int32_t mask_id = 0;  // replaces 8 in 10 masked tokens; 1 in 10 becomes a random token, 1 in 10 is kept
  std::vector<std::int32_t> special_ids = {};  // never used as random tokens
};

/// A text with some of its tokens masked.
struct MaskedText {
  std::vector<std::int32_t> ids, labels;  // [tokens]; label: the original token if masked, otherwise -1
};
MaskedText MaskWords(const TextExample& text, const MaskingOptions& masking, std::int64_t vocabulary, Random& random);

/// Trains with different masks in each epoch (Liu et al., "RoBERTa", 2019, section 4.1). Every validation uses the same
/// masks. The score is the accuracy on the predicted tokens, in per cent. Validations also report bits_per_mask, the
/// mean of -log2 p over the tokens that were replaced by the mask token. For a protein language model, this is the
/// number of bits per residue.
HEADLIGHT_API TrainingTask MaskedLanguageModelTask(TextEncoder& model, const TextSets& texts,
                                                   const MaskingOptions& masking, const BatchOptions& batches);

/// Returns the loss, the accuracy and the bits_per_mask on `texts`, as in the task's validation.
HEADLIGHT_API ValidationReport ValidateMaskedWords(const TextEncoder& model, const std::vector<TextExample>& texts,
                                                   const MaskingOptions& masking, const PassWatch& watch = {});

}  // namespace headlight
