#include "headlight/pipelines/read_at_once.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/text/tokenizers/tokenizer.h"

namespace headlight {

void CheckReadAtOnce(const Translator& translator, const std::string& text, const TranslateOptions& options,
                     const std::string& name) {
  const std::int64_t tokens = translator.CountTokens(text, options), most = translator.model().limits().positions;
  Check(tokens <= most, "{}: {} tokens, and the model reads at most {}; `truncate` leaves out its end", name, tokens,
        most);
}

bool TruncateToRead(const Translator& translator, std::string& text, const TranslateOptions& options) {
  const std::int64_t most = translator.model().limits().positions, tokens = translator.CountTokens(text, options);
  if (tokens <= most) return false;
  std::vector<TextSpan> spans;
  translator.tokenizer().Encode(text, Side::source, &spans);
  // Tokenized on its own, the kept text may have more tokens than within the whole text.
  std::size_t bytes = 0;
  for (std::int64_t kept = std::max<std::int64_t>(0, std::ssize(spans) - (tokens - most)); kept > 0; --kept) {
    bytes = static_cast<std::size_t>(spans[static_cast<std::size_t>(kept - 1)].end);
    while (bytes > 0 && bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    if (translator.CountTokens(std::string_view(text).substr(0, bytes), options) <= most) break;
    bytes = 0;
  }
  text.resize(bytes);
  return true;
}

}  // namespace headlight
