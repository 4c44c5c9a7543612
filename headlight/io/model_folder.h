// Model folders in Hugging Face's layout: config.json, the weights, generation_config.json and the tokenizer's files.
// Weights are model.safetensors, or pytorch_model.bin from torch.save, or several such files listed in
// model.safetensors.index.json or pytorch_model.bin.index.json.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/io/safetensors.h"

namespace headlight {

/// A tensor that another program stored with the model's tensors.
struct IgnoredTensor {
  std::string name, reason;
};

/// An open model folder.
struct ModelFolder {
  std::string path;
  JsonView config;             ///< its `model_type` names the family
  JsonView generation_config;  ///< an empty object if there is no such file
  Safetensors weights;
  std::vector<IgnoredTensor> ignored = {};  ///< tensors that are left out of `weights`

  std::string File(std::string_view name) const { return path + "/" + std::string(name); }
};

/// Returns true if `path` is named like an .npz file (io/npz.h). Such a file has a model's weights, as saved from
/// Haiku. Its only setting is the `model_type`: the outermost module, with which all tensor names begin, as in
/// "alphafold/...".
HEADLIGHT_API bool IsNpz(std::string_view path);

/// Returns the folder of the Transformer in a folder of sentence-transformers. This is `path`, or if it has no
/// config.json, the folder that modules.json names, such as path/0_Transformer.
HEADLIGHT_API std::string TransformerFolder(const std::string& path);

/// Opens the folder at `path`, the TransformerFolder in it, or an .npz file. Throws Error naming the missing or damaged
/// file. For weights in an unsupported format, the error explains how to convert them.
HEADLIGHT_API ModelFolder OpenModelFolder(const std::string& path);

/// Opens a model without the arrays of an .npz file, which are slow to read.
HEADLIGHT_API ModelFolder OpenModelDescription(const std::string& path);

/// Opens the weights in the folder at `path`. If both formats exist, reads safetensors, as Transformers does. Drops the
/// prefixes module. and _orig_mod., which DistributedDataParallel and torch.compile add to all names.
HEADLIGHT_API Safetensors OpenWeights(const std::string& path);

/// Throws Error unless `path` does not exist, is an empty folder, or contains only a model, which may then be replaced.
/// Call it before a long computation whose result is saved at `path`.
HEADLIGHT_API void CheckReplaceable(const std::string& path);

/// To be called before saving a new tokenizer.json. Throws Error if the folder at `path` has part of a model or of
/// another tokenizer. A folder with only a trained tokenizer may be replaced, and other files are kept.
HEADLIGHT_API void CheckTokenizerReplaceable(const std::string& path);

/// Saves a model. `fill` writes its files into a new folder. The new folder then atomically replaces the folder at
/// `path`, which CheckReplaceable must allow (base/file.h, ReplaceFolder). Creates parent folders.
HEADLIGHT_API void SaveModelFolder(const std::string& path, const std::function<void(const std::string& folder)>& fill);

/// Copies the tokenizer's files from one folder to another.
HEADLIGHT_API void CopyTokenizer(const std::string& from, const std::string& to);

/// Copies the discrete VAE in the folder `coder` to the folder `vae` of the DALL-E `to`, without training state. Throws
/// Error on failure.
HEADLIGHT_API void CopyCoder(const std::string& coder, const std::string& to);

/// Completes the folder `to`, which has config.json and weights of a model converted or trained from the folder `from`.
/// Copies the tokenizer's files, generation_config.json, a shortlist, the modules of sentence-transformers, and the
/// keys of config.json that `to` lacks.
HEADLIGHT_API void CopyBesideModel(const std::string& from, const std::string& to);

}  // namespace headlight
