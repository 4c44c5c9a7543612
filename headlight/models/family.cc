#include "headlight/models/family.h"

#include <fmt/format.h>

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"

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

bool IsArchitecture(const JsonView& config, std::string_view name) {
  const JsonView names = config["architectures"];
  if (!names.present()) return false;
  const std::vector<std::string> all = names.Strings();
  return std::ranges::find(all, name) != all.end();
}

std::string WithArticle(std::string_view name) {
  const bool vowel = !name.empty() && std::string_view("aeio").find(name.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", name);
}

}  // namespace

const Family& FamilyOf(const ModelFolder& files) {
  const JsonView type = files.config["model_type"];
  // Transformers calls ESMFold, whose language model is an ESM-2, by the same name as that.
  const bool folds = type.String() == "esm" && files.config.Get("is_folding_model", false).Bool();
  // And GPT-2 with a head for classes, which reads texts as encoders do, is no language model.
  const bool classifies = type.String() == "gpt2" && IsArchitecture(files.config, "GPT2ForSequenceClassification");
  const std::string name = folds ? "esmfold" : classifies ? "gpt2-classifier" : type.String();
  for (const Family* family : Families())
    if (std::ranges::find(family->model_types, name) != family->model_types.end()) return *family;
  Fail("{}: {} is not a known family; known are: {}", type.place(), Quoted(type.String()),
       TypesWhere([](const Family&) { return true; }));
}

const Family& FamilyOf(const ModelFolder& files, std::string_view kind, const std::type_index* model) {
  const Family& family = FamilyOf(files);
  const JsonView type = files.config["model_type"];
  if (family.kind != kind)
    Fail("{}: is {} model, {}, and {} is needed: {}", files.path, WithArticle(type.String()), WithArticle(family.kind),
         WithArticle(kind), TypesWhere([&](const Family& other) { return other.kind == kind; }));
  if (model != nullptr && family.model != *model)
    Fail("{}: {} is not of the family that is asked for; its own are: {}", type.place(), Quoted(type.String()),
         TypesWhere([&](const Family& other) { return other.model == *model; }));
  return family;
}

std::int64_t NewLanguageModel::Ffn(std::int64_t model) const {
  const auto size = static_cast<std::int64_t>(ffn_of_model * static_cast<double>(model));
  return std::max<std::int64_t>(1, (size + ffn_step - 1) / ffn_step) * ffn_step;
}

std::vector<NewLanguageModel> NewLanguageModels() {
  std::vector<NewLanguageModel> all;
  for (const Family* family : Families())
    all.insert(all.end(), family->from_scratch.begin(), family->from_scratch.end());
  std::ranges::sort(all, {}, &NewLanguageModel::name);
  return all;
}

bool LeavesOutTypes(const ModelFolder& files) {
  const std::string path = files.File("tokenizer_config.json");
  if (!Exists(path)) return false;
  const JsonView settings = ReadJson(path), names = settings["model_input_names"];
  if (names.present()) return std::ranges::count(names.Strings(), "token_type_ids") == 0;
  // Of the classes of Transformers whose tokenizers know the type of a second text, these give none unless told to.
  static constexpr std::string_view classes[] = {"DistilBertTokenizer", "DistilBertTokenizerFast", "TokenizersBackend"};
  return std::ranges::find(classes, settings.Get("tokenizer_class", "").String()) != std::end(classes);
}

template <>
std::unique_ptr<Model> LoadModel<Model>(const std::string& folder, const LoadModelOptions& options) {
  const ModelFolder files = OpenModelFolder(folder);
  return FamilyOf(files).load(files, options);
}

}  // namespace headlight
