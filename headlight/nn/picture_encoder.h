// The interface of encoders of pictures, for classes, features and inspection.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/nn/context.h"
#include "headlight/nn/model.h"
#include "headlight/nn/patches.h"

namespace headlight {

// The states of pictures.
struct EncodedPictures {
  Tensor hidden;            // [tokens, model]: of each picture the special tokens, then its patches row by row
  Sequences pictures;       // the tokens of each
  std::vector<Grid> grids;  // the patches of each
};

class HEADLIGHT_API PictureEncoder : public Model {
 public:
  static constexpr std::string_view kKind = "encoder of pictures";

  // Pictures [height, width, channels], which may differ in size. Where `masked` is not empty it has an element for
  // each patch of all pictures: those that are not 0 are replaced by the mask. Throws Error for other channels, and for
  // masks where the model has none.
  virtual EncodedPictures Encode(Context& context, std::span<const Tensor> pictures,
                                 std::span<const std::uint8_t> masked = {}) const = 0;
  // One state of each picture, [pictures, pooled]. Throws Error where the model has no pooler.
  virtual Tensor Pool(Context& context, const EncodedPictures& encoded) const = 0;
  // [pictures, labels]. Throws Error where the model has no classes.
  virtual Tensor ClassLogits(Context& context, const EncodedPictures& encoded) const = 0;
  // The pixels that the masked patches had, [patches, channels * patch height * patch width] as Patches has them, and
  // those of all others. Throws Error where the model has no such head.
  virtual Tensor Pixels(Context& context, const EncodedPictures& encoded) const = 0;

  struct Limits {
    Grid picture;  // pixels of the size that the model was trained on
    Grid patch;    // pixels
    std::int64_t channels = 3;
    std::int32_t special = 1;  // tokens before the patches; the first is the class token
    std::int64_t model = 0;    // numbers of a state
  };
  const Limits& limits() const { return limits_; }
  const std::vector<std::string>& labels() const { return labels_; }

  Json::Object Description() const override;

 protected:
  using Model::Model;

  Limits limits_;
  std::vector<std::string> labels_;
};

}  // namespace headlight
