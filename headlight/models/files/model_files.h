// Functions that load and save the weights in a model's folder, including tied tables and 8-bit and 4-bit weights.
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
  std::optional<Compute> compute = {};  ///< compute type of matrix products; default: the stored type
  LoadFor purpose = LoadFor::everything;
  ChosenDropout dropout = {};  ///< dropout rates for training, which replace the folder's rates
};

/// Tensors that a file may have in addition to the model's parameters.
struct OtherTensors {
  /// Pairs of tensors that are tied to each other. A file may have either or both. Loading throws Error if their values
  /// differ.
  std::vector<std::pair<std::string, std::string>> tied = {};
  std::vector<std::string> unused = {};  ///< names, or prefixes if they end with a dot or a slash
  std::vector<std::string> zeros = {};   ///< parameters that are zero if a file does not have them
};

/// Loads a model's parameters from its folder, and sets the compute type of its matrix products. Throws the same errors
/// as LoadParameters.
void LoadWeights(const ModelFolder& files, const LoadModelOptions& options, Parameters& parameters,
                 const OtherTensors& others);
/// Loads `weights` instead of the folder's weights, for example if tensors are renamed.
void LoadWeights(const ModelFolder& files, const Safetensors& weights, const LoadModelOptions& options,
                 Parameters& parameters, const OtherTensors& others);

/// Returns a scope as a prefix of tensor names: the scope and a dot, or "" if the scope is empty.
std::string Prefix(const std::string& scope);
/// Returns `scope` if any tensor name in the file begins with it, and "" otherwise.
std::string ScopeIn(const Safetensors& file, const std::string& scope);

/// Writes config.json and model.safetensors to `folder`. `more` has additional tensors that other programs require.
void SaveConfigAndWeights(const std::string& folder, Json config, const Parameters& parameters, Compute compute,
                          std::vector<StoredTensor> more = {});

}  // namespace headlight
