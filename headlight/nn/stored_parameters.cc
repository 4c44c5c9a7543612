#include "headlight/nn/stored_parameters.h"

#include <set>
#include <vector>

namespace headlight {
namespace {

// The part of a parameter that is stored as one of its names.
Shape PartShape(const Parameter& parameter) {
  std::vector<std::int64_t> axes(parameter.shape.axes().begin(), parameter.shape.axes().end());
  axes[0] /= static_cast<std::int64_t>(parameter.names.size());
  return Shape(axes);
}

Tensor Part(const Parameter& parameter, std::size_t index) {
  if (parameter.names.size() == 1) return parameter.value;
  const std::int64_t rows = PartShape(parameter)[0];
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
  std::set<std::string, std::less<>> known;
  std::vector<std::string> missing, unknown, misshapen;
  for (const Parameter& parameter : parameters.all()) {
    const Shape shape = PartShape(parameter);
    for (const std::string& name : parameter.names) {
      known.insert(name);
      if (!file.contains(name)) {
        missing.push_back(name);
      } else if (file.At(name).shape != shape) {
        misshapen.push_back(
            fmt::format("{} has {} instead of {}", name, ToString(file.At(name).shape), ToString(shape)));
      }
    }
  }
  for (const auto& [name, tensor] : file.tensors())
    if (!known.contains(name) && !harmless(name)) unknown.push_back(name);
  Check(missing.empty(), "{}: tensors that this model needs are missing: {}", path, List(missing));
  Check(unknown.empty(), "{}: tensors that this model does not have: {}", path, List(unknown));
  Check(misshapen.empty(), "{}: tensors have other shapes than the configuration asks for: {}", path, List(misshapen));

  // Only now is memory taken: a configuration that lies about sizes has been found out.
  if (parameters.values().empty()) parameters.Initialise(0);
  for (const Parameter& parameter : parameters.all())
    for (std::size_t index = 0; index < parameter.names.size(); ++index)
      Part(parameter, index).CopyFrom(file.Read(parameter.names[index], parameters.dtype()));
  parameters.Pack();
}

void SaveParameters(const Parameters& parameters, const std::string& path, std::vector<StoredTensor> more) {
  for (const Parameter& parameter : parameters.all())
    for (std::size_t index = 0; index < parameter.names.size(); ++index)
      more.push_back(Stored(parameter.names[index], Part(parameter, index)));
  WriteSafetensors(path, std::move(more));
}

}  // namespace headlight
