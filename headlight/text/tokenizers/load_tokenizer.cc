#include "headlight/text/tokenizers/load_tokenizer.h"

#include "headlight/base/file.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

std::shared_ptr<const Tokenizer> LoadTokenizer(const std::string& folder) {
  if (Exists(folder + "/source.spm")) return std::make_shared<MarianTokenizer>(MarianTokenizer::Load(folder));
  return std::make_shared<PipelineTokenizer>(PipelineTokenizer::Load(folder));
}

}  // namespace headlight
