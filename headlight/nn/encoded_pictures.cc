#include "headlight/nn/encoded_pictures.h"

#include "headlight/ops/embedding.h"

namespace headlight {

Tensor EncodedPictures::RowOfEach(std::int32_t index) const {
  std::vector<std::int32_t> rows;
  for (const Sequence& picture : pictures) rows.push_back(picture.begin + index);
  return ops::Embedding(hidden, rows);
}

}  // namespace headlight
