#include "headlight/text/tokenizers/encode_text.h"

#include <algorithm>
#include <cstddef>

namespace headlight {

bool HasSides(const Tokenizer& tokenizer) { return dynamic_cast<const PipelineTokenizer*>(&tokenizer) == nullptr; }

Encoding EncodeOneText(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options, Side side) {
  if (const auto* pipeline = dynamic_cast<const PipelineTokenizer*>(&tokenizer)) return pipeline->Encode(text, options);
  Encoding encoding;
  encoding.ids = tokenizer.Encode(text, side, &encoding.spans);
  const std::size_t tokens = encoding.ids.size();
  if (options.add_special) encoding.ids.insert(encoding.ids.end(), tokenizer.after().begin(), tokenizer.after().end());
  encoding.spans.resize(encoding.ids.size());
  encoding.type_ids.resize(encoding.ids.size());
  encoding.texts.assign(encoding.ids.size(), -1);
  std::fill_n(encoding.texts.begin(), tokens, 0);
  return encoding;
}

}  // namespace headlight
