// Feeds arbitrary bytes to every parser of a tokenizer's files. What they accept must run.

#include "headlight/base/error.h"
#include "headlight/text/tokenizer.h"
#include "headlight/text/tokenizer_files.h"
#include "headlight/text/tokenizer_pipeline.h"

namespace headlight {
namespace {

void Run(SentencePieceModel model) {
  const Tokenizer tokenizer(std::move(model));
  std::vector<TextSpan> spans;
  tokenizer.Decode(tokenizer.Encode(" Der Hund la\u0308uft, 1000\u00a0\ufb01\u2581日本 </s>", Side::source, &spans));
}

void Run(const TokenizerPipeline& tokenizer) {
  const Encoding encoding = tokenizer.EncodePair(" Der Hund la\u0308uft's,\t1000\u00a0\ufb01\u2581日本 </s>[MASK]", "");
  tokenizer.Decode(encoding.ids);
}

template <typename Body>
void Try(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.blame() == Blame::internal) throw;
  }
}

}  // namespace
}  // namespace headlight

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with('{')) {
    Try([&] { ParseVocabularyJson(bytes, "vocab.json"); });
    Try([&] { ParseTokenizerConfigJson(bytes, "tokenizer_config.json"); });
    Try([&] { Run(ParseTokenizerJson(bytes, SpecialTokens(), "tokenizer.json")); });
    Try([&] { Run(TokenizerPipeline::Parse(bytes, "tokenizer.json")); });
  } else {
    Try([&] { Run(ParseSentencePieceModel(bytes, "source.spm")); });
  }
  return 0;
}
