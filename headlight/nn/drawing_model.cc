#include "headlight/nn/drawing_model.h"

#include "headlight/base/error.h"

namespace headlight {

std::vector<std::int32_t> DrawingModel::Prompt(std::span<const std::int32_t> text) const {
  Check(std::ssize(text) <= drawing_.text_positions, "a text has {} tokens, and the model reads at most {}",
        text.size(), drawing_.text_positions);
  std::vector<std::int32_t> prompt = {TextId(0)};
  for (std::int32_t position = 0; position < drawing_.text_positions; ++position) {
    const std::int32_t id = position < std::ssize(text) ? text[static_cast<std::size_t>(position)] : 0;
    Check(id >= 0 && id < drawing_.text_vocabulary, "id {} at position {} of a text: the vocabulary has {}", id,
          position, drawing_.text_vocabulary);
    prompt.push_back(TextId(id > 0 ? id : drawing_.text_vocabulary + position));
  }
  return prompt;
}

}  // namespace headlight
