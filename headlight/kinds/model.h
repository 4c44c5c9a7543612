// The base class of all models.
#pragma once

#include <string>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/nn/parameters.h"

namespace headlight {

struct NamedTensors;  // kinds/forward_tensors.h
class Safetensors;

/// A model of any family: its parameters, and a forward pass by tensor names.
class HEADLIGHT_API Model {
 public:
  virtual ~Model() = default;

  const Parameters& parameters() const { return parameters_; }
  Parameters& parameters() { return parameters_; }

  /// Sizes and heads of the model, for display.
  virtual Json::Object Description() const = 0;

  /// Runs the model on named inputs and returns its outputs and the attention weights of every layer. Names are those
  /// of Transformers or, if it has none, of the authors. Outputs at padding are 0. Throws Error for unknown or missing
  /// inputs, and if shapes, ids or masks do not fit.
  virtual NamedTensors Forward(const Safetensors& inputs) const = 0;

  /// Writes the files that LoadModel needs into the existing `folder`, among them config.json and model.safetensors.
  /// int8 and int4 store the weights of products in that type, which only headlight reads.
  virtual void Save(const std::string& folder, Compute compute = Compute::float32) const = 0;

 protected:
  explicit Model(DType dtype) : parameters_(dtype) {}

  /// The sizes of its layers, with the names of kinds/layer_sizes.h; empty if Description has them all.
  virtual Json::Object LayerSizes() const { return {}; }
  /// Adds the layer sizes that `description` does not have.
  Json::Object WithLayerSizes(Json::Object description) const;

  Parameters parameters_;
};

}  // namespace headlight
