#include "headlight/models/files/model_files.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight {
namespace {

// The quantization method of folders with 8-bit or 4-bit weights. Transformers does not support this method and reports
// an error.
constexpr const char* kQuantization = "headlight";
// The quantization method of GGUF files, in which each tensor has its own type.
constexpr const char* kGguf = "gguf";

// Returns the type in which the folder stores its weight matrices.
Compute StoredCompute(const JsonView& config) {
  const JsonView quantization = config["quantization_config"];
  if (!quantization.present()) return Compute::float32;
  if (quantization["quant_method"].String({kQuantization, kGguf}) == kGguf) return Compute::blocks;
  const std::int64_t bits = quantization["bits"].Integer(4, 8);
  Check(bits == 4 || bits == 8, "{}: {} bits; 4 and 8 are supported", quantization["bits"].location(), bits);
  return bits == 4 ? Compute::int4 : Compute::int8;
}

// Returns the file with tied tensors under the names of the model's parameters, and with zeros for absent buffers.
// Returns nothing if the file is already complete.
std::optional<Safetensors> Completed(const Safetensors& file, const Parameters& parameters,
                                     const OtherTensors& others) {
  std::vector<StoredTensor> tensors;
  for (const auto& [again, tied] : others.tied) {
    const auto has = [&, &name = tied](const StoredTensor& tensor) { return tensor.name == name; };
    const auto is_named = [&, &name = tied](const Parameter& parameter) {
      return std::ranges::find(parameter.names, name) != parameter.names.end();
    };
    if (std::ranges::none_of(parameters.all(), is_named)) continue;  // the model does not tie this table
    if (file.contains(tied) || !file.contains(again) || std::ranges::any_of(tensors, has)) continue;
    tensors.push_back(file.At(again));
    tensors.back().name = tied;
  }
  const auto kept = std::make_shared<std::vector<Tensor>>();
  for (const Parameter& parameter : parameters.all()) {
    const std::string& name = parameter.names.front();
    if (file.contains(name) || std::ranges::find(others.zeros, name) == others.zeros.end()) continue;
    tensors.push_back(Stored(name, kept->emplace_back(Tensor::Zeros(parameter.shape))));
  }
  if (tensors.empty()) return std::nullopt;
  for (const auto& [name, tensor] : file.tensors()) tensors.push_back(tensor);
  return Safetensors::Of(file.path(), std::move(tensors), kept);
}

}  // namespace

void LoadWeights(const ModelFolder& files, const LoadModelOptions& options, Parameters& parameters,
                 const OtherTensors& others) {
  LoadWeights(files, files.weights, options, parameters, others);
}

void LoadWeights(const ModelFolder& files, const Safetensors& stored_file, const LoadModelOptions& options,
                 Parameters& parameters, const OtherTensors& others) {
  const std::optional<Safetensors> completed = Completed(stored_file, parameters, others);
  const Safetensors& file = completed ? *completed : stored_file;
  const Compute stored = StoredCompute(files.config);
  const Compute compute = options.compute.value_or(options.purpose == LoadFor::everything ? Compute::float32 : stored);
  Check(options.purpose != LoadFor::computing_with_draft || !IsQuantized(compute),
        "{}: a draft in int8 is for a model that computes in float32 or bfloat16, not in {}", file.path(),
        Name(compute));
  parameters.SetCompute(compute);
  const auto harmless = [&](std::string_view name) {
    for (const auto& [again, tied] : others.tied) {
      if (name != again || !file.contains(tied)) continue;
      Check(std::ranges::equal(file.At(name).bytes, file.At(tied).bytes),
            "{}: tensor {} differs from {}, to which the configuration ties it", file.path(), name, tied);
      return true;
    }
    return std::ranges::any_of(others.unused, [&](const std::string& unused) {
      return name == unused || ((unused.ends_with('.') || unused.ends_with('/')) && name.starts_with(unused));
    });
  };
  // In GGUF files, the first axis of every matrix is the output axis, even if the family's checkpoints store the
  // transposed matrix.
  std::vector<Parameter*> transposed;
  for (Parameter& parameter : parameters.all())
    if (stored == Compute::blocks && std::exchange(parameter.storage.transposed, false))
      transposed.push_back(&parameter);
  LoadParameters(parameters, file, harmless, options.purpose);
  for (Parameter* parameter : transposed) parameter->storage.transposed = true;
}

std::string ScopeIn(const Safetensors& file, const std::string& scope) {
  const auto first = file.tensors().lower_bound(Prefix(scope));
  return first != file.tensors().end() && first->first.starts_with(Prefix(scope)) ? scope : "";
}

std::string Prefix(const std::string& scope) { return scope.empty() ? "" : scope + "."; }

void SaveConfigAndWeights(const std::string& folder, Json config, const Parameters& parameters, Compute compute,
                          std::vector<StoredTensor> more) {
  config.Set("dtype", "float32");
  if (IsQuantized(compute)) {
    Json::Array quantized;  // only for information: each tensor's own type is loaded
    for (const Parameter& parameter : parameters.all())
      if (IsQuantized(TypeFor(parameter, compute)))
        quantized.insert(quantized.end(), parameter.names.begin(), parameter.names.end());
    config.Set("quantization_config", Json::Object{{"quant_method", kQuantization},
                                                   {"bits", compute == Compute::int4 ? 4 : 8},
                                                   {"tensors", std::move(quantized)}});
  }
  WriteFile(folder + "/config.json", config.Text());
  SaveParameters(parameters, folder + "/model.safetensors", std::move(more), compute);
}

}  // namespace headlight
