// The interface of encoders of images, for classes, features and inspection.
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
  static constexpr std::string_view kKind = "encoder of images";

  // Images [height, width, channels], which may differ in size. Where `masked` is not empty it has an element for
  // each patch of all images: those that are not 0 are replaced by the mask. Throws Error for other channels, and for
  // masks where the model has none.
  virtual EncodedImages Encode(Context& context, std::span<const Tensor> images,
                               std::span<const std::uint8_t> masked = {}) const = 0;
  // One state of each image, [images, pooled]. Throws Error where the model has no pooler.
  virtual Tensor Pool(Context& context, const EncodedImages& encoded) const = 0;
  // One vector of each image, [images, model]: the state of its class token, or the mean of its patches' where the
  // model has no class token.
  Tensor Features(const EncodedImages& encoded) const;
  // [images, labels]. Throws Error where the model has no classes.
  virtual Tensor ClassLogits(Context& context, const EncodedImages& encoded) const = 0;
  // The pixels that the masked patches had, [patches, channels * patch height * patch width] as Patches has them, and
  // those of all others. Throws Error where the model has no such head.
  virtual Tensor Pixels(Context& context, const EncodedImages& encoded) const = 0;

  // A model of the same encoder with a head for these classes and no other; without any where there are no labels. Its
  // parameters are not filled. Throws Error where the family has no such head.
  virtual std::unique_ptr<ImageEncoder> WithClasses(const std::vector<std::string>& labels) const;

  using Limits = ImageLimits;
  // The heads that the model has, each with the function of its name above.
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

  // Adds what further heads make of encoded images to Forward's outputs.
  virtual void AddOutputs(Context& /*context*/, const EncodedImages& /*encoded*/, NamedTensors& /*out*/) const {}

  Limits limits_;
  Heads heads_;
  std::vector<std::string> labels_;
};

// The encoder with a head for other classes, initialised by the seed.
HEADLIGHT_API std::unique_ptr<ImageEncoder> GiveClasses(const ImageEncoder& model,
                                                        const std::vector<std::string>& labels, std::uint64_t seed);

}  // namespace headlight
