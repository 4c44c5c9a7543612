// The model families, which are found by the `model_type` in a folder's config.json. Each models/STEM.cc defines one
// Family, headlight::families::STEM. The build collects them, so that a new family does not edit another file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/kinds/language_model.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/models/files/model_files.h"

namespace headlight {

/// The sizes of a language model to train from scratch.
struct LanguageModelSizes {
  std::int64_t model = 256, ffn = 1024;
  std::int32_t heads = 4;
  std::int32_t key_heads = 0;  ///< of keys and values; 0: as many as heads
  int layers = 4;
  std::int64_t positions = 512, vocabulary = 0;
  std::int32_t begin_id = -1, end_id = -1;  ///< special tokens before and after a text; -1: none
  std::int32_t experts = 8, experts_per_token = 2;
  double dropout = 0;  ///< of embeddings and sublayers
  double attention_dropout = 0;
};

/// A language model that can be trained from scratch.
struct NewLanguageModel {
  std::string_view name;  ///< its model type
  std::unique_ptr<LanguageModel> (*make)(const LanguageModelSizes& sizes);
  bool dropout = true;        ///< whether sublayers have dropout
  bool grouped_keys = false;  ///< whether it may have fewer key heads than query heads
  bool experts = false;       ///< whether feed-forward networks may be experts
  double ffn_of_model = 4;    ///< default ffn dimension, as a multiple of the model dimension,
  std::int64_t ffn_step = 1;  ///< rounded up to a multiple of this

  HEADLIGHT_API std::int64_t Ffn(std::int64_t model) const;
};

/// Folders with a certain `model_type` that belong to another family than that of the type.
struct TypeVariant {
  std::string_view model_type;
  bool (*matches)(const JsonView& config) = nullptr;  ///< null: none
};

struct Family {
  std::vector<std::string> model_types;
  std::type_index model;  ///< the family's class
  std::string_view kind;  ///< kKind of the class's interface: TextEncoder, LanguageModel, ...
  std::unique_ptr<Model> (*load)(const ModelFolder& files, const LoadModelOptions& options);
  std::vector<NewLanguageModel> from_scratch = {};
  TypeVariant variant = {};
  Json (*complete_config)(const JsonView& config) = nullptr;  // of language models: CompleteConfig
};

/// The configuration of a language model of class M with all of the family's keys; null if M does not give its own.
template <typename M>
Json CompleteConfigOf(const JsonView& json) {
  std::remove_cvref_t<decltype(std::declval<const M&>().config())> config;
  ReadConfig(json, config);
  return WriteConfig(config);
}
template <typename M>
constexpr auto CompletesConfig() -> Json (*)(const JsonView&) {
  if constexpr (std::is_base_of_v<LanguageModel, M> && requires(const M& model) { model.config(); })
    return CompleteConfigOf<M>;
  else
    return nullptr;
}

/// The family of class M. `load` is a function of the family's file that reads a model from a folder.
template <typename M, auto load>
Family MakeFamily(std::vector<std::string> model_types, std::vector<NewLanguageModel> from_scratch = {},
                  TypeVariant variant = {}) {
  return {std::move(model_types),
          typeid(M),
          M::kKind,
          [](const ModelFolder& files, const LoadModelOptions& options) -> std::unique_ptr<Model> {
            return load(files, options);
          },
          std::move(from_scratch),
          variant,
          CompletesConfig<M>()};
}

/// `load` for families whose folders have all settings in config.json and only the parameters as tensors.
template <typename M>
std::unique_ptr<M> LoadWhole(const ModelFolder& files, const LoadModelOptions& options) {
  std::remove_cvref_t<decltype(std::declval<const M&>().config())> config;
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<M>(config);
  LoadWeights(files, options, model->parameters(), {});
  return model;
}

std::vector<const Family*> Families();

/// The language models that can be trained from scratch, sorted by name.
HEADLIGHT_API std::vector<NewLanguageModel> NewLanguageModels();

/// Loads the model of a folder of that family. Errors name a file of the folder.
HEADLIGHT_API std::unique_ptr<Model> LoadFamily(const Family& family, const ModelFolder& files,
                                                const LoadModelOptions& options);

/// The family of a folder. Throws Error listing the known families if it is none of them.
HEADLIGHT_API const Family& FamilyOf(const ModelFolder& files);

/// The folder's family, which must be of this kind and, if given, of this class. Throws Error listing the model types
/// that are.
HEADLIGHT_API const Family& FamilyOf(const ModelFolder& files, std::string_view kind, const std::type_index* model);

/// A language model's configuration with all keys of its family: missing ones have their defaults. Throws Error for
/// settings that are not supported, and for other kinds of models.
HEADLIGHT_API Json CompleteConfig(const ModelFolder& files);

/// True if the folder's tokenizer gives no token types, so that all are 0. Its tokenizer_config.json then has
/// model_input_names without token_type_ids, or no such key and a tokenizer_class that gives none.
HEADLIGHT_API bool LeavesOutTypes(const ModelFolder& files);

/// Loads the model of a folder in the layout of Hugging Face Transformers (config.json and model.safetensors).
/// LoadModel<> accepts any family, LoadModel<TextEncoder> a kind, and LoadModel<Bert> one family. Throws Error if the
/// model is of another kind, and naming tensors that are missing, unknown or of a wrong shape. Settings that the model
/// does not support are errors, and so is a compute type that the processor does not support.
template <typename M = Model>
std::unique_ptr<M> LoadModel(const std::string& folder, const LoadModelOptions& options = {});

template <>
HEADLIGHT_API std::unique_ptr<Model> LoadModel<Model>(const std::string& folder, const LoadModelOptions& options);

// The model of an open folder.
template <typename M>
std::unique_ptr<M> LoadModel(const ModelFolder& files, const LoadModelOptions& options = {}) {
  const std::type_index model = typeid(M);
  const Family& family = FamilyOf(files, M::kKind, std::is_abstract_v<M> ? nullptr : &model);
  std::unique_ptr<M> loaded(static_cast<M*>(LoadFamily(family, files, options).release()));
  if constexpr (std::is_base_of_v<TextEncoder, M>)
    if (LeavesOutTypes(files)) loaded->LeaveOutTypes();
  return loaded;
}

template <typename M>
std::unique_ptr<M> LoadModel(const std::string& folder, const LoadModelOptions& options) {
  return LoadModel<M>(OpenModelFolder(folder), options);
}

/// Throws Error if the folder's model is not of the kind. Does not read its weights.
template <typename M>
void CheckKind(const std::string& folder) {
  FamilyOf(OpenModelFolder(folder), M::kKind, nullptr);
}

}  // namespace headlight
