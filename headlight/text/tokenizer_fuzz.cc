// Feeds arbitrary bytes to every parser of a tokenizer's files; the first byte says which. What they accept must run.

#include "headlight/base/error.h"
#include "headlight/text/tokenizer.h"
#include "headlight/text/tokenizer_files.h"

namespace headlight {
namespace {

void Run(SentencePieceModel model) {
  const Tokenizer tokenizer(std::move(model));
  std::vector<TextSpan> spans;
  tokenizer.Decode(tokenizer.Encode(" Der Hund la\u0308uft, 1000\u00a0\ufb01\u2581日本 </s>", Side::source, &spans));
}

void Parse(char which, std::string_view bytes) {
  switch (which) {
    case 'v':
      ParseVocabularyJson(bytes, "vocab.json");
      break;
    case 'c':
      ParseTokenizerConfigJson(bytes, "tokenizer_config.json");
      break;
    case 't':
      Run(ParseTokenizerJson(bytes, SpecialTokens(), "tokenizer.json"));
      break;
    default:
      Run(ParseSentencePieceModel(bytes, "source.spm"));
  }
}

}  // namespace
}  // namespace headlight

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    headlight::Parse(static_cast<char>(data[0]), {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const headlight::Error& error) {
    if (error.blame() == headlight::Blame::internal) throw;
  }
  return 0;
}
