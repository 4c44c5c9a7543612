// The families of models, found by the `model_type` of a folder's config.json. Each models/STEM.cc defines one Family,
// headlight::families::STEM; the build makes their list of the files that are there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/encoder_decoder.h"
#include "headlight/nn/language_model.h"
#include "headlight/nn/model_files.h"
#include "headlight/nn/text_encoder.h"

namespace headlight {

// What a folder of the family can be loaded as: null where it is no such model.
struct Family {
  std::vector<std::string> model_types;
  std::unique_ptr<TextEncoder> (*text_encoder)(const ModelFolder& files, const LoadModelOptions& options) = nullptr;
  std::unique_ptr<LanguageModel> (*language_model)(const ModelFolder& files, const LoadModelOptions& options) = nullptr;
  std::unique_ptr<EncoderDecoder> (*encoder_decoder)(const ModelFolder& files,
                                                     const LoadModelOptions& options) = nullptr;
};

// A family file's own Load, as what its model is.
template <typename Kind, auto load>
std::unique_ptr<Kind> LoadAs(const ModelFolder& files, const LoadModelOptions& options) {
  return load(files, options);
}

std::vector<const Family*> Families();

// The family of a folder. Throws Error that lists the known ones where it is none of them.
HEADLIGHT_API const Family& FamilyOf(const ModelFolder& files);

// The model of a folder, whatever its family: config.json and model.safetensors as Hugging Face Transformers lays them
// out. Throws Error for what is missing, foreign or of a wrong shape, for a setting that the model does not have, for a
// processor that does not have the type to compute in, and for a family that is no such model.
HEADLIGHT_API std::unique_ptr<Model> LoadModel(const std::string& folder, const LoadModelOptions& options = {});
HEADLIGHT_API std::unique_ptr<TextEncoder> LoadTextEncoder(const std::string& folder,
                                                           const LoadModelOptions& options = {});
HEADLIGHT_API std::unique_ptr<LanguageModel> LoadLanguageModel(const std::string& folder,
                                                               const LoadModelOptions& options = {});
HEADLIGHT_API std::unique_ptr<EncoderDecoder> LoadEncoderDecoder(const std::string& folder,
                                                                 const LoadModelOptions& options = {});

}  // namespace headlight
