#include "headlight/nn/stored_parameters.h"

#include <set>
#include <vector>

namespace headlight {
namespace {

// The part of a parameter that is stored as `names[index]`.
Tensor Part(const Parameter& parameter, std::size_t index) {
  if (parameter.names.size() == 1) return parameter.value;
  const std::int64_t rows = parameter.shape[0] / static_cast<std::int64_t>(parameter.names.size());
  return parameter.value.ViewRows(static_cast<std::int64_t>(index) * rows, rows);
}

// At most eight of them: an error is one line.
std::string List(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + most, ", "), names.size() - most);
}

}  // namespace

void LoadParameters(Parameters& parameters, const Safetensors& file,
                    const std::function<bool(std::string_view)>& harmless) {
  const std::string& path = file.path();
  if (parameters.values().empty()) parameters.Initialise(0);
  std::set<std::string, std::less<>> known;
  std::vector<std::string> missing, unknown;
  for (const Parameter& parameter : parameters.all()) {
    for (const std::string& name : parameter.names) {
      known.insert(name);
      if (!file.contains(name)) missing.push_back(name);
    }
  }
  for (const auto& [name, tensor] : file.tensors())
    if (!known.contains(name) && !harmless(name)) unknown.push_back(name);
  Check(missing.empty(), "{}: tensors that this model needs are missing: {}", path, List(missing));
  Check(unknown.empty(), "{}: tensors that this model does not have: {}", path, List(unknown));

  for (const Parameter& parameter : parameters.all()) {
    for (std::size_t index = 0; index < parameter.names.size(); ++index) {
      const Tensor part = Part(parameter, index);
      const StoredTensor& stored = file.At(parameter.names[index]);
      Check(stored.shape == part.shape(), "{}: tensor {} has shape {}, where the configuration asks for {}", path,
            stored.name, ToString(stored.shape), ToString(part.shape()));
      part.CopyFrom(file.Read(stored.name, parameters.dtype()));
    }
  }
  parameters.Pack();
}

void SaveParameters(const Parameters& parameters, const std::string& path) {
  std::vector<StoredTensor> tensors;
  for (const Parameter& parameter : parameters.all())
    for (std::size_t index = 0; index < parameter.names.size(); ++index)
      tensors.push_back(Stored(parameter.names[index], Part(parameter, index)));
  WriteSafetensors(path, std::move(tensors));
}

}  // namespace headlight
