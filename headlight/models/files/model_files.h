// Loads and saves the weights of a model's folder, with tied tables and with 8-bit and 4-bit weights.
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
  std::optional<Compute> compute = {};  ///< type of matrix products; default: as stored
  LoadFor purpose = LoadFor::everything;
  ChosenDropout dropout = {};  ///< for training, instead of the folder's
};

/// Tensors that a file may have in addition to the model's parameters.
struct OtherTensors {
  /// A tensor that is tied to another. The file may have it under the first name, also as a copy; an Error if copies
  /// differ.
  std::vector<std::pair<std::string, std::string>> tied = {};
  std::vector<std::string> unused = {};  ///< a name that ends with a dot or a slash is a prefix
  std::vector<std::string> zeros = {};   ///< parameters that are zeros if a file does not have them
};

/// Sets a model's parameters from its folder, and the type of its matrix products. Throws Error as LoadParameters.
void LoadWeights(const ModelFolder& files, const LoadModelOptions& options, Parameters& parameters,
                 const OtherTensors& others);
/// The same with `weights` instead of the folder's own, such as renamed ones.
void LoadWeights(const ModelFolder& files, const Safetensors& weights, const LoadModelOptions& options,
                 Parameters& parameters, const OtherTensors& others);

/// A scope as a prefix of tensor names: with a dot, or empty.
std::string Prefix(const std::string& scope);
/// The scope; or an empty string if no name in the file has it as a prefix.
std::string ScopeIn(const Safetensors& file, const std::string& scope);

/// Writes config.json and model.safetensors to `folder`. `more`: additional tensors, which other programs expect.
void SaveConfigAndWeights(const std::string& folder, Json config, const Parameters& parameters, Compute compute,
                          std::vector<StoredTensor> more = {});

}  // namespace headlight
