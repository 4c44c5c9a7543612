// The families of models, found by the `model_type` of a folder's config.json. Each models/STEM.cc defines one Family,
// headlight::families::STEM; the build lists the files that are there, so that a new family edits no other file.
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

/// The sizes of a language model that is trained from scratch.
struct LanguageModelSizes {
  std::int64_t model = 256, ffn = 1024;
  std::int32_t heads = 4;
  std::int32_t key_heads = 0;  // of keys and values; 0: as many as heads
  int layers = 4;
  std::int64_t positions = 512, vocabulary = 0;
  std::int32_t begin_id = -1, end_id = -1;  // stand before a text and end it; -1: none
  std::int32_t experts = 8, experts_per_token = 2;
  double dropout = 0;  // of embeddings and sublayers
  double attention_dropout = 0;
};

/// A language model that a family makes from scratch.
struct NewLanguageModel {
  std::string_view name;  // its model type
  std::unique_ptr<LanguageModel> (*make)(const LanguageModelSizes& sizes);
  bool dropout = true;        // its sublayers have dropout
  bool grouped_keys = false;  // it may have fewer heads of keys than of queries
  bool experts = false;       // its feed-forward networks are experts
  double ffn_of_model = 4;    // the usual inner size of its feed-forward network, of the model's size,
  std::int64_t ffn_step = 1;  // rounded up to a multiple of this

  HEADLIGHT_API std::int64_t Ffn(std::int64_t model) const;
};

/// Folders of one `model_type` that belong to a family other than the one of that type.
struct TypeVariant {
  std::string_view model_type;
  bool (*matches)(const JsonView& config) = nullptr;  // null: there are none
};

struct Family {
  std::vector<std::string> model_types;
  std::type_index model;  // the family's class
  std::string_view kind;  // kKind of the interface that the class implements: TextEncoder, LanguageModel, ...
  std::unique_ptr<Model> (*load)(const ModelFolder& files, const LoadModelOptions& options);
  std::vector<NewLanguageModel> from_scratch = {};
  TypeVariant variant = {};
};

// The family of class M, whose file has a function `load` that reads one from a folder.
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
          variant};
}

// `load` of a family whose folders say all in config.json and hold nothing but its parameters.
template <typename M>
std::unique_ptr<M> LoadWhole(const ModelFolder& files, const LoadModelOptions& options) {
  std::remove_cvref_t<decltype(std::declval<const M&>().config())> config;
  ReadConfig(files.config, config, options.dropout);
  auto model = std::make_unique<M>(config);
  LoadWeights(files, options, model->parameters(), {});
  return model;
}

std::vector<const Family*> Families();

/// The language models that are trained from scratch, in the order of their names.
HEADLIGHT_API std::vector<NewLanguageModel> NewLanguageModels();

// The model of a folder of that family. Errors name a file of the folder.
HEADLIGHT_API std::unique_ptr<Model> LoadFamily(const Family& family, const ModelFolder& files,
                                                const LoadModelOptions& options);

// The family of a folder. Throws Error that lists the known ones where it is none of them.
HEADLIGHT_API const Family& FamilyOf(const ModelFolder& files);

// The folder's family, which is of the kind and, where given, of the class. Throws Error that lists the model types
// that are.
HEADLIGHT_API const Family& FamilyOf(const ModelFolder& files, std::string_view kind, const std::type_index* model);

// True if the folder's tokenizer_config.json has model_input_names without token_type_ids, or without such names a
// tokenizer_class that gives none, so that all types are 0.
HEADLIGHT_API bool LeavesOutTypes(const ModelFolder& files);

// The model of a folder as Hugging Face Transformers lays it out (config.json and model.safetensors): of any family, or
// one of a kind, LoadModel<TextEncoder>, or of a family's own class, LoadModel<Bert>. Throws Error for a model that is
// something else, for what is missing, foreign or of a wrong shape, for a setting that the model does not have, and for
// a processor that does not have the type to compute in.
template <typename M = Model>
std::unique_ptr<M> LoadModel(const std::string& folder, const LoadModelOptions& options = {});

template <>
HEADLIGHT_API std::unique_ptr<Model> LoadModel<Model>(const std::string& folder, const LoadModelOptions& options);

template <typename M>
std::unique_ptr<M> LoadModel(const std::string& folder, const LoadModelOptions& options) {
  const ModelFolder files = OpenModelFolder(folder);
  const std::type_index model = typeid(M);
  const Family& family = FamilyOf(files, M::kKind, std::is_abstract_v<M> ? nullptr : &model);
  std::unique_ptr<M> loaded(static_cast<M*>(LoadFamily(family, files, options).release()));
  if constexpr (std::is_base_of_v<TextEncoder, M>)
    if (LeavesOutTypes(files)) loaded->LeaveOutTypes();
  return loaded;
}

// Throws Error where the folder's model is not of the kind; its weights are not read.
template <typename M>
void CheckKind(const std::string& folder) {
  FamilyOf(OpenModelFolder(folder), M::kKind, nullptr);
}

}  // namespace headlight
