#include "headlight/models/family.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// The model types of the families of which `wanted` is true, for an error.
std::string TypesWhere(const auto& wanted) {
  std::vector<std::string> types;
  for (const Family* family : Families())
    if (wanted(*family)) types.insert(types.end(), family->model_types.begin(), family->model_types.end());
  std::ranges::sort(types);
  return fmt::format("{}", fmt::join(types, ", "));
}

// The folder's model by one of its family's loaders.
template <typename M>
std::unique_ptr<M> Load(const std::string& folder, const LoadModelOptions& options, const char* what,
                        std::unique_ptr<M> (*Family::*loader)(const ModelFolder&, const LoadModelOptions&)) {
  const ModelFolder files = OpenModelFolder(folder);
  const Family& family = FamilyOf(files);
  Check(family.*loader != nullptr, "{}: {} is no {}; those are: {}", files.config["model_type"].place(),
        Quoted(files.config["model_type"].String()), what,
        TypesWhere([&](const Family& other) { return other.*loader != nullptr; }));
  return (family.*loader)(files, options);
}

}  // namespace

const Family& FamilyOf(const ModelFolder& files) {
  const JsonView type = files.config["model_type"];
  for (const Family* family : Families())
    if (std::ranges::find(family->model_types, type.String()) != family->model_types.end()) return *family;
  Fail("{}: {} is not a known family; known are: {}", type.place(), Quoted(type.String()),
       TypesWhere([](const Family&) { return true; }));
}

std::unique_ptr<Model> LoadModel(const std::string& folder, const LoadModelOptions& options) {
  const ModelFolder files = OpenModelFolder(folder);
  const Family& family = FamilyOf(files);
  if (family.text_encoder != nullptr) return family.text_encoder(files, options);
  if (family.language_model != nullptr) return family.language_model(files, options);
  return family.encoder_decoder(files, options);
}

std::unique_ptr<TextEncoder> LoadTextEncoder(const std::string& folder, const LoadModelOptions& options) {
  return Load(folder, options, "encoder of texts", &Family::text_encoder);
}

std::unique_ptr<LanguageModel> LoadLanguageModel(const std::string& folder, const LoadModelOptions& options) {
  return Load(folder, options, "language model", &Family::language_model);
}

std::unique_ptr<EncoderDecoder> LoadEncoderDecoder(const std::string& folder, const LoadModelOptions& options) {
  return Load(folder, options, "encoder with a decoder", &Family::encoder_decoder);
}

}  // namespace headlight
