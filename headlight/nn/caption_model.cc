#include "headlight/nn/caption_model.h"

#include "headlight/base/error.h"

namespace headlight {

Memory CaptionModel::MemoryOf(Context& /*context*/, const EncodedPictures& encoded) const {
  return {encoded.hidden, encoded.pictures};
}

Tensor CaptionModel::ReadTexts(Context& /*context*/, std::span<const std::int32_t> /*ids*/, const Sequences& /*texts*/,
                               const Memory* /*pictures*/) const {
  Fail("{}: this model reads no texts, it only writes them", parameters_.source());
}

Tensor CaptionModel::MatchLogits(Context& /*context*/, const Tensor& /*states*/, const Sequences& /*texts*/) const {
  Fail("{}: this model has no head that matches texts with pictures", parameters_.source());
}

Tensor CaptionModel::PictureVectors(Context& /*context*/, const EncodedPictures& /*encoded*/) const {
  Fail("{}: this model has no vectors of pictures and texts", parameters_.source());
}

Tensor CaptionModel::TextVectors(Context& /*context*/, const Tensor& /*states*/, const Sequences& /*texts*/) const {
  Fail("{}: this model has no vectors of pictures and texts", parameters_.source());
}

Json::Object CaptionModel::Description() const {
  Json::Array uses;
  for (const auto& [has, name] : {std::pair(uses_.captions, "captions"), std::pair(uses_.answers, "answers"),
                                  std::pair(uses_.matches, "matches"), std::pair(uses_.vectors, "vectors")})
    if (has) uses.push_back(name);
  return {{"uses", uses},
          {"positions", limits_.positions},
          {"picture_height", picture_limits_.picture.height},
          {"picture_width", picture_limits_.picture.width},
          {"patch_height", picture_limits_.patch.height},
          {"patch_width", picture_limits_.patch.width},
          {"channels", picture_limits_.channels},
          {"picture_model", picture_limits_.model}};
}

}  // namespace headlight
