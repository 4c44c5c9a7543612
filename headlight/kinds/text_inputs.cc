#include "headlight/kinds/text_inputs.h"

#include "headlight/base/error.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/kinds/language_model.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/kinds/text_encoder.h"

namespace headlight {

TextInputs TextInputsOf(const Model& model) {
  if (const auto* encoder = dynamic_cast<const TextEncoder*>(&model))
    return {.longest = encoder->limits().positions, .types = encoder->reads_types()};
  if (const auto* pairs = dynamic_cast<const RegionTextEncoder*>(&model))
    return {.longest = pairs->limits().positions, .types = pairs->limits().types > 1};
  if (const auto* language = dynamic_cast<const LanguageModel*>(&model))
    return {.longest = language->limits().positions, .continued = true};
  const auto* pair = dynamic_cast<const EncoderDecoder*>(&model);
  Ensure(pair != nullptr, "a model that reads no texts");
  return {.longest = pair->limits().positions};
}

}  // namespace headlight
