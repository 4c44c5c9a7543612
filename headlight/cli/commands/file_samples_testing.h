// Writes tiny valid files for the table of file_kinds_testing.h, and defines commands that read them.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/cli/commands/mutations_testing.h"
#include "headlight/cli/program/testing.h"
#include "headlight/io/safetensors.h"

namespace headlight::file_kinds {

using mutations::Form;
using Command = std::vector<std::string>;
using Make = std::function<void(const TemporaryFolder& folder)>;

struct Kind {
  std::string name;
  std::string file;  // path of the mutated file in the sample's folder
  Form form = Form::binary;
  Command command;  // "@a" is replaced by the path of the file a in the sample's folder
  Make make;
  std::string input = {};  // standard input
  bool changes = false;    // true if the command modifies the folder
  double share = 1;        // fraction of the usual number of mutated files; less than 1 for slow commands
};

inline const std::string kRepository = HEADLIGHT_SOURCE_DIR "/";
inline const std::string kData = kRepository + "tests/testdata/";
inline const std::string kTokenizers = kRepository + "headlight/text/tokenizers/testdata/";
inline const std::string kImageData = kRepository + "headlight/image/testdata/";

inline void CopyTo(const std::string& from, const std::string& to) {
  std::filesystem::create_directories(std::filesystem::path(to).parent_path());
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

inline Make Copied(const std::string& from, const std::string& to) {
  return [=](const TemporaryFolder& folder) { CopyTo(from, folder.File(to)); };
}

inline Make Text(const std::string& file, const std::string& text) {
  return [=](const TemporaryFolder& folder) {
    std::filesystem::create_directories(std::filesystem::path(folder.File(file)).parent_path());
    WriteFile(folder.File(file), text);
  };
}

inline Make Both(const Make& first, const Make& second) {
  return [=](const TemporaryFolder& folder) {
    first(folder);
    second(folder);
  };
}

// Returns a function that saves a model to the folder "model" with `save`.
inline Make Saved(const std::function<void(const std::string&)>& save) {
  return [=](const TemporaryFolder& folder) {
    std::filesystem::create_directory(folder.File("model"));
    save(folder.File("model"));
  };
}

inline Tensor Ramp(const Shape& shape) {
  Tensor tensor = Tensor::Zeros(shape);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.data<float>()[i] = static_cast<float>(i % 23) / 11 - 1;
  return tensor;
}

inline Tensor Ids(const Shape& shape) {
  Tensor tensor = Tensor::Zeros(shape, DType::int32);
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    tensor.data<std::int32_t>()[i] = static_cast<std::int32_t>(3 + i % 5);
  return tensor;
}

// Returns a function that writes "inputs.safetensors" for `forward`.
inline Make Inputs(const std::map<std::string, Tensor>& inputs) {
  return [=](const TemporaryFolder& folder) {
    std::vector<StoredTensor> stored;
    for (const auto& [name, tensor] : inputs) stored.push_back(Stored(name, tensor));
    WriteSafetensors(folder.File("inputs.safetensors"), stored);
  };
}

// Returns a function that writes the inputs in a family's golden file.
inline Make GoldenInputs(const std::string& model) {
  return [=](const TemporaryFolder& folder) {
    const std::set<std::string> names = {
        "input_ids",    "attention_mask", "token_type_ids", "decoder_input_ids", "decoder_attention_mask",
        "pixel_values", "pixel_mask",     "image_feat",     "image_loc",         "image_attention_mask",
        "task_ids",     "visual_feats",   "visual_pos",     "visual_embeds",     "visual_attention_mask"};
    const Safetensors golden(kData + model + "/golden.safetensors");
    std::map<std::string, Tensor> inputs;
    for (const auto& [name, tensor] : golden.tensors())
      if (names.contains(name))
        inputs[name] = golden.Read(name, tensor.type == StoredType::f32 ? DType::float32 : DType::int32);
    Inputs(inputs)(folder);
  };
}

inline const Command kForward = {"forward", "@model", "@inputs.safetensors", "--out", "@out.safetensors"};

}  // namespace headlight::file_kinds
