// The interface of image encoders, for classification, features and inspection.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/context.h"
#include "headlight/nn/encoded_images.h"
#include "headlight/nn/patches.h"

namespace headlight {

class HEADLIGHT_API ImageEncoder : public Model {
 public:
  static constexpr std::string_view kKind = "image encoder";

  /// Encodes images [height, width, channels], which may differ in size. `masked` is empty or has one element per patch
  /// of all images. Patches with a nonzero element are replaced by the mask token. Throws Error for a different number
  /// of channels, and if `masked` is given for a model without a mask token.
  virtual EncodedImages Encode(Context& context, std::span<const Tensor> images,
                               std::span<const std::uint8_t> masked = {}) const = 0;
  /// Returns one state per image, [images, pooled]. Throws Error if the model has no pooler.
  virtual Tensor Pool(Context& context, const EncodedImages& encoded) const = 0;
  /// Returns one vector per image, [images, model]. The vector is the state of the class token, or the mean of the
  /// patches' states if there is no class token.
  Tensor Features(const EncodedImages& encoded) const;
  /// Returns class logits [images, labels]. Throws Error if the model has no classes.
  virtual Tensor ClassLogits(Context& context, const EncodedImages& encoded) const = 0;
  /// Returns reconstructed pixels of all patches, masked or not, in the layout of Patches: [patches, channels * patch
  /// height * patch width]. Throws Error if the model has no head for pixels.
  virtual Tensor Pixels(Context& context, const EncodedImages& encoded) const = 0;

  /// Returns a model with the same encoder and a head for these classes, or no head if `labels` is empty. The
  /// parameters are not initialized. Throws Error if the family has no classification head.
  virtual std::unique_ptr<ImageEncoder> WithClasses(const std::vector<std::string>& labels) const;

  using Limits = ImageLimits;
  /// The heads of the model. Pool, ClassLogits and Pixels each require one of them.
  struct Heads {
    bool pooler = false, classes = false, pixels = false;
  };
  const Limits& limits() const { return limits_; }
  const Heads& heads() const { return heads_; }
  const std::vector<std::string>& labels() const { return labels_; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

 protected:
  using Model::Model;

  /// Adds the outputs of additional heads to the outputs of Forward.
  virtual void AddOutputs(Context& /*context*/, const EncodedImages& /*encoded*/, NamedTensors& /*out*/) const {}

  Limits limits_;
  Heads heads_;
  std::vector<std::string> labels_;
};

/// Returns the encoder with a head for other classes. The head is initialized with the seed.
HEADLIGHT_API std::unique_ptr<ImageEncoder> GiveClasses(const ImageEncoder& model,
                                                        const std::vector<std::string>& labels, std::uint64_t seed);

}  // namespace headlight
