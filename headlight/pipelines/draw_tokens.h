// Samples the tokens of images after the prompts of text-to-image models.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headlight/kinds/language_model.h"
#include "headlight/pipelines/text_to_image_options.h"

namespace headlight {

struct TokensToDraw {
  std::vector<std::vector<std::int32_t>> prompts;  ///< all of the same length
  std::vector<std::int32_t> unguided = {};         ///< the prompt without a text, for classifier-free guidance
  std::int64_t count = 0;                          ///< new tokens after each prompt
  std::optional<std::int32_t> never = {};          ///< a token that has a logit but must not be sampled
};

/// Samples `count` tokens after each prompt. The cache limits how many images are sampled at once. Throws Error naming
/// an invalid option.
std::vector<std::vector<std::int32_t>> DrawTokens(const LanguageModel& model, const TokensToDraw& wanted,
                                                  const TextToImageOptions& options);

}  // namespace headlight
