// The tokens of images, drawn after the prompts of models that write them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headlight/kinds/language_model.h"
#include "headlight/pipelines/text_to_image_options.h"

namespace headlight {

struct TokensToDraw {
  std::vector<std::vector<std::int32_t>> prompts;  // of one length
  std::vector<std::int32_t> unguided = {};         // the prompt without a text, for guidance
  std::int64_t count = 0;                          // of new tokens after each
  std::optional<std::int32_t> never = {};          // a token that the model scores and that is not drawn
};

// `count` tokens after each prompt. As many images are drawn at once as their cache allows. Throws Error for
// impossible options, naming them.
std::vector<std::vector<std::int32_t>> DrawTokens(const LanguageModel& model, const TokensToDraw& wanted,
                                                  const TextToImageOptions& options);

}  // namespace headlight
