// A model's weights from and to its folder: tables stored twice, 8-bit and 4-bit weights.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/config_table.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/files/stored_parameters.h"

namespace headlight {

struct LoadModelOptions {
  std::optional<Compute> compute = {};  // of products; as the folder is stored unless given
  LoadFor purpose = LoadFor::everything;
  ChosenDropout dropout = {};  // in the place of the folder's, for training
};

// Tensors that a file may hold besides the model's parameters.
struct OtherTensors {
  // A tensor that is tied to another and stored under the first name, too, or under that alone; an Error where they
  // differ.
  std::vector<std::pair<std::string, std::string>> tied = {};
  std::vector<std::string> unused = {};  // a name that ends in a dot or a slash is a prefix
  std::vector<std::string> zeros = {};   // parameters that are zeros in a file without them
};

// Fills a model's parameters from its folder, and says what its products are computed in. Throws Error as
// LoadParameters.
void LoadWeights(const ModelFolder& files, const LoadModelOptions& options, Parameters& parameters,
                 const OtherTensors& others);
// The same from `weights` instead of the folder's own, such as these under other names.
void LoadWeights(const ModelFolder& files, const Safetensors& weights, const LoadModelOptions& options,
                 Parameters& parameters, const OtherTensors& others);

// A scope as the prefix of tensor names: with a dot, or empty.
std::string Prefix(const std::string& scope);
// The scope, or nothing if no name in the file has it as a prefix.
std::string ScopeIn(const Safetensors& file, const std::string& scope);

// Writes config.json and model.safetensors into `folder`; with `more` tensors, which other programs expect.
void SaveConfigAndWeights(const std::string& folder, Json config, const Parameters& parameters, Compute compute,
                          std::vector<StoredTensor> more = {});

}  // namespace headlight
