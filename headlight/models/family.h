// Model families, selected by the `model_type` in a folder's config.json. Each models/STEM.cc defines one Family,
// headlight::families::STEM. The build collects them, so that a new family requires no change to other files.
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

/// Sizes of a language model for training from scratch.
struct LanguageModelSizes {
  std::int64_t model = 256, ffn = 1024;
  std::int32_t heads = 4;
  std::int32_t key_heads = 0;  ///< number of key and value heads; 0: equal to `heads`
  int layers = 4;
  std::int64_t positions = 512, vocabulary = 0;
  std::int32_t begin_id = -1, end_id = -1;  ///< special tokens before and after a text; -1 if there is none
  std::int32_t experts = 8, experts_per_token = 2;
  double dropout = 0;  ///< dropout rate of embeddings and sublayers
  double attention_dropout = 0;
};

/// A language model that can be trained from scratch.
struct NewLanguageModel {
  std::string_view name;  ///< the model type
  std::unique_ptr<LanguageModel> (*make)(const LanguageModelSizes& sizes);
  bool dropout = true;        ///< if true, dropout of sublayers is supported
  bool grouped_keys = false;  ///< if true, the number of key heads may be smaller than the number of query heads
  bool experts = false;       ///< if true, feed-forward networks may be mixtures of experts
  double ffn_of_model = 4;    ///< ratio of the default ffn dimension to the model dimension
  std::int64_t ffn_step = 1;  ///< the default ffn dimension is rounded up to a multiple of this

  HEADLIGHT_API std::int64_t Ffn(std::int64_t model) const;
};

/// An exception for folders with this `model_type`. Folders for which `matches` is true belong to another family.
struct TypeVariant {
  std::string_view model_type;
  bool (*matches)(const JsonView& config) = nullptr;  ///< null if there is no exception
};

struct Family {
  std::vector<std::string> model_types;
  std::type_index model;  ///< the class of the family's models
  std::string_view kind;  ///< kKind of the class's interface: TextEncoder, LanguageModel, ...
  std::unique_ptr<Model> (*load)(const ModelFolder& files, const LoadModelOptions& options);
  std::vector<NewLanguageModel> from_scratch = {};
  TypeVariant variant = {};
  Json (*complete_config)(const JsonView& config) = nullptr;  // see CompleteConfig; null for other kinds of models
};

/// Returns the configuration of a model of class M with all of the family's keys.
template <typename M>
Json CompleteConfigOf(const JsonView& json) {
  std::remove_cvref_t<decltype(std::declval<const M&>().config())> config;
  ReadConfig(json, config);
  return WriteConfig(config);
}
/// Returns CompleteConfigOf<M>, or null if M is of a kind that GGUF does not have, or has no config().
template <typename M>
constexpr auto CompletesConfig() -> Json (*)(const JsonView&) {
  constexpr bool in_gguf =
      std::is_base_of_v<LanguageModel, M> || std::is_base_of_v<TextEncoder, M> || std::is_base_of_v<EncoderDecoder, M>;
  if constexpr (in_gguf && requires(const M& model) { model.config(); })
    return CompleteConfigOf<M>;
  else
    return nullptr;
}

/// Returns the family of class M. `load`, a function in the family's file, loads a model from a folder.
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

/// Loads a model whose settings are all in config.json and whose tensors are exactly the parameters.
template <typename M>
std::unique_ptr<M> LoadWhole(const ModelFolder& files, const LoadModelOptions& options) {
  std::remove_cvref_t<decltype(std::declval<const M&>().config())> config;
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<M>(config);
  LoadWeights(files, options, model->parameters(), {});
  return model;
}

std::vector<const Family*> Families();

/// Returns the language models that can be trained from scratch, sorted by name.
HEADLIGHT_API std::vector<NewLanguageModel> NewLanguageModels();

/// Loads a model of this family from a folder. Error messages name a file in the folder.
HEADLIGHT_API std::unique_ptr<Model> LoadFamily(const Family& family, const ModelFolder& files,
                                                const LoadModelOptions& options);

/// Returns the family of a folder's model. Throws Error with a list of the known families if the family is unknown.
HEADLIGHT_API const Family& FamilyOf(const ModelFolder& files);

/// Returns the family of a folder's model, which must have this kind and, if `model` is given, this class. Otherwise
/// throws Error with a list of the accepted model types.
HEADLIGHT_API const Family& FamilyOf(const ModelFolder& files, std::string_view kind, const std::type_index* model);

/// Returns the configuration of a language model, text encoder or encoder-decoder with all keys of its family. Missing
/// keys have their defaults. Throws Error for unsupported settings, and for other kinds of models.
HEADLIGHT_API Json CompleteConfig(const ModelFolder& files);

/// Returns true if the folder's tokenizer returns no token types, so that all types are 0. tokenizer_config.json then
/// has model_input_names without token_type_ids. If the file has no such key, its tokenizer_class returns no types.
HEADLIGHT_API bool LeavesOutTypes(const ModelFolder& files);

/// Loads the model of a folder in the layout of Hugging Face Transformers (config.json and model.safetensors).
/// LoadModel<> accepts any family, LoadModel<TextEncoder> one kind of model, and LoadModel<Bert> one family. Throws
/// Error for a model of another kind, for unsupported settings, and if the processor does not support the compute type.
/// Also throws Error for missing, unknown or wrongly shaped tensors. The message names them.
template <typename M = Model>
std::unique_ptr<M> LoadModel(const std::string& folder, const LoadModelOptions& options = {});

template <>
HEADLIGHT_API std::unique_ptr<Model> LoadModel<Model>(const std::string& folder, const LoadModelOptions& options);

/// Loads the model of a folder that is already open.
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

/// Throws Error if the folder's model is not of the kind M. Does not read its weights.
template <typename M>
void CheckKind(const std::string& folder) {
  FamilyOf(OpenModelFolder(folder), M::kKind, nullptr);
}

}  // namespace headlight
