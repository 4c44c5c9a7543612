#include "headlight/nn/encoded_images.h"

#include "headlight/ops/embedding.h"

namespace headlight {

Tensor EncodedImages::RowOfEach(std::int32_t index) const {
  std::vector<std::int32_t> rows;
  for (const Sequence& image : images) rows.push_back(image.begin + index);
  return ops::Embedding(hidden, rows);
}

}  // namespace headlight
