#include "headlight/text/tokenizers/tokenizer.h"

#include "headlight/base/error.h"

namespace headlight {

bool Tokenizer::Holds(std::int32_t id, std::int32_t size) {
  Check(id >= 0, "token {} is not in the vocabulary of {}", id, size);
  return id < size;
}

std::vector<std::string> Tokenizer::Labels(std::span<const std::int32_t> ids) const {
  std::vector<std::string> labels;
  for (const std::int32_t id : ids) labels.push_back(Piece(id));
  return labels;
}

}  // namespace headlight
