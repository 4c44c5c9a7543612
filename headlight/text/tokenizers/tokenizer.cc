#include "headlight/text/tokenizers/tokenizer.h"

#include <filesystem>

#include "headlight/base/error.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {

bool Tokenizer::Holds(std::int32_t id, std::int32_t size) {
  Check(id >= 0, "token {} is not in the vocabulary of {}", id, size);
  return id < size;
}

std::shared_ptr<const Tokenizer> LoadTokenizer(const std::string& folder) {
  std::error_code error;  // a file that cannot be examined is left to whoever opens it
  if (std::filesystem::exists(folder + "/source.spm", error) || error)
    return std::make_shared<MarianTokenizer>(MarianTokenizer::Load(folder));
  return std::make_shared<PipelineTokenizer>(PipelineTokenizer::Load(folder));
}

}  // namespace headlight
