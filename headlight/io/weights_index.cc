#include "headlight/io/weights_index.h"

#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/io/torch_file.h"

namespace headlight {

std::map<std::string, std::set<std::string>> ReadWeightsIndex(const std::string& path) {
  std::map<std::string, std::set<std::string>> files;
  const JsonView index = ReadJson(path);
  const JsonView weight_map = index["weight_map"];
  const std::string_view ending = path.ends_with(".bin.index.json") ? ".bin" : ".safetensors";
  for (const auto& [tensor, file] : weight_map.Members()) {
    const std::string name = file.String();
    Check(name.ends_with(ending) && !name.starts_with('.') &&
              name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos,
          "{}: {} is not the name of a {} file in its folder", file.location(), Quoted(name), ending);
    files[name].insert(tensor);
  }
  Check(!files.empty(), "{}: names no tensor", weight_map.location());
  return files;
}

Safetensors ReadShards(const std::string& index) {
  std::vector<Safetensors> files;
  const std::string folder = index.substr(0, index.rfind('/') + 1);
  for (const auto& [name, tensors] : ReadWeightsIndex(index)) {
    const std::string path = folder + name;
    const Safetensors& file = files.emplace_back(name.ends_with(".bin") ? ReadTorchFile(path) : Safetensors(path));
    for (const std::string& tensor : tensors)
      Check(file.contains(tensor), "{}: there is no tensor {}, but {} lists it for this file", path, Quoted(tensor),
            index);
    for (const auto& [tensor, stored] : file.tensors())
      Check(tensors.contains(tensor), "{}: tensor {}: {} does not list it for this file", path, Quoted(tensor), index);
  }
  return Safetensors::Joined(index, std::move(files));  // the index names each tensor once
}

}  // namespace headlight
