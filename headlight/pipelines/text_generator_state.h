// The state that a TextGenerator loads from its folder.
#pragma once

#include <cstdint>
#include <memory>

#include "headlight/kinds/language_model.h"
#include "headlight/pipelines/generation_settings.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

struct TextGeneratorState {
  std::unique_ptr<const LanguageModel> model;
  PipelineTokenizer tokenizer;
  TextSettings defaults;
  std::int32_t first_id = -1;  ///< token that is put before every text; -1 if there is none
};

}  // namespace headlight
