#include "headlight/pipelines/read_at_once.h"

#include "headlight/base/error.h"
#include "headlight/kinds/encoder_decoder.h"

namespace headlight {

void CheckReadAtOnce(const Translator& translator, const std::string& text, const TranslateOptions& options,
                     const std::string& place) {
  const std::int64_t tokens = translator.CountTokens(text, options), most = translator.model().limits().positions;
  Check(tokens <= most, "{}: {} tokens, and the model reads at most {}: it must be shortened", place, tokens, most);
}

}  // namespace headlight
