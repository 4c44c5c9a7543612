#include "headlight/nn/drawing_model.h"

#include <cstddef>

#include "headlight/base/error.h"

namespace headlight {

ops::Weight DrawingModel::TextWeight(Context& /*context*/) const {
  Fail("{}: this model reads texts and does not predict them: it is neither trained nor evaluated",
       parameters_.source());
}

Tensor DrawingModel::TextBias(Context& context) const { return TextWeight(context).value; }

void DrawingModel::CheckText(std::span<const std::int32_t> text) const {
  Check(std::ssize(text) <= drawing_.text_positions, "a text has {} tokens, and the model reads at most {}",
        text.size(), drawing_.text_positions);
  for (std::size_t i = 0; i < text.size(); ++i)
    Check(text[i] >= 0 && text[i] < drawing_.text_vocabulary, "id {} at position {} of a text: the vocabulary has {}",
          text[i], i, drawing_.text_vocabulary);
}

}  // namespace headlight
