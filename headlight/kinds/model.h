// The base class of all models.
#pragma once

#include <string>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/nn/parameters.h"

namespace headlight {

struct NamedTensors;  // defined in kinds/forward_tensors.h
class Safetensors;

/// A model of any family, with parameters and a forward pass on named tensors.
class HEADLIGHT_API Model {
 public:
  virtual ~Model() = default;

  const Parameters& parameters() const { return parameters_; }
  Parameters& parameters() { return parameters_; }

  /// Returns the model's sizes and heads, for display.
  virtual Json::Object Description() const = 0;

  /// Runs the model on named inputs. Returns the outputs and the attention weights of every layer. Names are as in
  /// Transformers or, for models that are not in Transformers, as in the authors' code. Outputs at padding are 0.
  /// Throws Error for unknown or missing inputs, and if shapes, ids or masks are invalid.
  virtual NamedTensors Forward(const Safetensors& inputs) const = 0;

  /// Writes the files that LoadModel requires into the existing `folder`, including config.json and model.safetensors.
  /// With int8 and int4, the weights of products are stored in that type, and only headlight can load the folder.
  virtual void Save(const std::string& folder, Compute compute = Compute::float32) const = 0;

 protected:
  explicit Model(DType dtype) : parameters_(dtype) {}

  /// Returns the sizes of the layers, named as in kinds/layer_sizes.h. Returns an empty object if Description already
  /// has all sizes.
  virtual Json::Object LayerSizes() const { return {}; }
  /// Adds the layer sizes that are not yet in `description`.
  Json::Object WithLayerSizes(Json::Object description) const;

  Parameters parameters_;
};

}  // namespace headlight
