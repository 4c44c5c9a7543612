// A model is a folder as Hugging Face lays it out: config.json, the weights, generation_config.json and the tokenizer's
// files. The weights are model.safetensors, or pytorch_model.bin of PyTorch's torch.save; or several such files, which
// model.safetensors.index.json or pytorch_model.bin.index.json names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/io/safetensors.h"

namespace headlight {

/// A tensor of another program, which the model does not have.
struct IgnoredTensor {
  std::string name, reason;
};

struct ModelFolder {
  std::string path;
  JsonView config;             // has a `model_type`, which names the family
  JsonView generation_config;  // an empty object where there is no such file
  Safetensors weights;
  std::vector<IgnoredTensor> ignored = {};  // tensors that are left out of `weights`

  std::string File(std::string_view name) const { return path + "/" + std::string(name); }
};

// A model's weights alone, as the program Haiku leaves them in an .npz file (io/npz.h): it has no configuration but a
// `model_type`, the name of its outermost module, with which the names of all tensors begin, "alphafold/...".
HEADLIGHT_API bool IsNpz(std::string_view path);

// The folder of the model in one of sentence-transformers: `path`, or if it has no config.json the folder that its
// modules.json names for the Transformer, such as path/0_Transformer.
HEADLIGHT_API std::string TransformerFolder(const std::string& path);

// Opens the folder at `path`, or the TransformerFolder in it, or such an .npz file. An Error says which file is missing
// or damaged and, where the folder holds weights in a format that is not read, what to do about it.
HEADLIGHT_API ModelFolder OpenModelFolder(const std::string& path);

// The same without the arrays of an .npz file, which take long to read.
HEADLIGHT_API ModelFolder OpenModelDescription(const std::string& path);

/// The weights in the folder at `path`. If they are there in both formats, safetensors are read, as by Transformers.
/// The prefixes module. and _orig_mod., which DistributedDataParallel and torch.compile put before all names, are
/// dropped.
HEADLIGHT_API Safetensors OpenWeights(const std::string& path);

// An Error unless `path` is free, an empty folder, or a folder with a model and nothing else, which a new model may
// replace. Call it before long work whose result will be saved there.
HEADLIGHT_API void CheckReplaceable(const std::string& path);

// The same before a new tokenizer.json: an Error where the folder at `path` holds part of a model or of another
// tokenizer. A trained tokenizer alone may be replaced, and other files stay.
HEADLIGHT_API void CheckTokenizerReplaceable(const std::string& path);

// Saves a model: `fill` writes its files into an empty folder, which then appears at `path` at once, in the place of
// what CheckReplaceable allows (base/file.h, ReplaceFolder). Folders on the way to `path` are created.
HEADLIGHT_API void SaveModelFolder(const std::string& path, const std::function<void(const std::string& folder)>& fill);

// Copies the tokenizer's files.
HEADLIGHT_API void CopyTokenizer(const std::string& from, const std::string& to);

/// Copies the discrete VAE in the folder `coder` into the folder `vae` of `to`, which has a DALL-E, without what its
/// training left. Throws Error if that cannot be done.
HEADLIGHT_API void CopyCoder(const std::string& coder, const std::string& to);

// Completes the folder `to`, which has config.json and weights of the model in the folder `from`, converted or trained
// further: copies the tokenizer's files, generation_config.json, a shortlist, the modules of sentence-transformers, and
// the keys of config.json that `to` lacks.
HEADLIGHT_API void CopyBesideModel(const std::string& from, const std::string& to);

}  // namespace headlight
