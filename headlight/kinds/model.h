// The base of models of every family.
#pragma once

#include <string>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/nn/parameters.h"

namespace headlight {

struct NamedTensors;  // kinds/forward_tensors.h
class Safetensors;

class HEADLIGHT_API Model {
 public:
  virtual ~Model() = default;

  const Parameters& parameters() const { return parameters_; }
  Parameters& parameters() { return parameters_; }

  // Sizes and parts of the model, for people: positions, heads.
  virtual Json::Object Description() const = 0;

  // The outputs for these inputs, and every layer's attention weights, under the names that Transformers has for them,
  // or else the authors. Outputs at padding are 0. Throws Error for inputs that the kind does not have, for what is
  // missing, and for shapes, ids and masks that do not fit.
  virtual NamedTensors Forward(const Safetensors& inputs) const = 0;

  // Writes what LoadModel needs, config.json and model.safetensors among it, into `folder`, which exists. For int8 and
  // int4 the matrices of products are stored so, which only headlight reads.
  virtual void Save(const std::string& folder, Compute compute = Compute::float32) const = 0;

 protected:
  explicit Model(DType dtype) : parameters_(dtype) {}

  // The sizes of its layers, as kinds/layer_sizes.h names them; none if Description has them all.
  virtual Json::Object LayerSizes() const { return {}; }
  // A description with those of the sizes that it does not have.
  Json::Object WithLayerSizes(Json::Object description) const;

  Parameters parameters_;
};

}  // namespace headlight
