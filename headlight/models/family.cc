#include "headlight/models/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/in_file.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

// Returns the model types of the families for which `wanted` is true, for an error message.
std::string TypesWhere(const auto& wanted) {
  std::vector<std::string> types;
  for (const Family* family : Families())
    if (wanted(*family)) types.insert(types.end(), family->model_types.begin(), family->model_types.end());
  std::ranges::sort(types);
  return fmt::format("{}", fmt::join(types, ", "));
}

// Tokenizers that assign type 1 to a second text by default, as of Transformers 5.24. The list has class names without
// the suffix "Tokenizer" or "TokenizerFast", and model types for folders without a class. PreTrainedTokenizerFast
// assigned type 1 only before 5.0.
constexpr std::string_view kClassesWithTypes[] = {"Bert",    "ConvBert", "Deberta",    "DebertaV2",
                                                  "Electra", "FNet",     "LayoutLM",   "LayoutLMv2",
                                                  "Lxmert",  "MarkupLM", "MobileBert", "SqueezeBert"};
constexpr std::string_view kTypesWithTypes[] = {"bert", "deberta", "deberta-v2", "distilbert"};

bool IsOneOf(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

std::string WithArticle(std::string_view name) {
  const bool vowel = !name.empty() && std::string_view("aeio").find(name.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", name);
}

}  // namespace

const Family& FamilyOf(const ModelFolder& files) {
  const JsonView type = files.config["model_type"];
  const std::string name = type.String();
  for (const Family* family : Families())
    if (family->variant.matches != nullptr && family->variant.model_type == name &&
        family->variant.matches(files.config))
      return *family;
  for (const Family* family : Families())
    if (std::ranges::find(family->model_types, name) != family->model_types.end()) return *family;
  Fail("{}: {} is not a known family; known are: {}", type.location(), Quoted(name),
       TypesWhere([](const Family&) { return true; }));
}

const Family& FamilyOf(const ModelFolder& files, std::string_view kind, const std::type_index* model) {
  const Family& family = FamilyOf(files);
  const JsonView type = files.config["model_type"];
  if (family.kind != kind)
    Fail("{}: is {} model, {}, and {} is needed: {}", files.path, WithArticle(type.String()), WithArticle(family.kind),
         WithArticle(kind), TypesWhere([&](const Family& other) { return other.kind == kind; }));
  if (model != nullptr && family.model != *model)
    Fail("{}: {} is not of the family that is asked for; its own are: {}", type.location(), Quoted(type.String()),
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

std::unique_ptr<Model> LoadFamily(const Family& family, const ModelFolder& files, const LoadModelOptions& options) {
  return InFile(files.config.location(), [&] { return family.load(files, options); });
}

Json CompleteConfig(const ModelFolder& files) {
  const Family& family = FamilyOf(files);
  Check(family.complete_config != nullptr, "{}: {} has no complete configuration",
        files.config["model_type"].location(), Quoted(files.config["model_type"].String()));
  return family.complete_config(files.config);
}

bool LeavesOutTypes(const ModelFolder& files) {
  const std::string path = files.File("tokenizer_config.json");
  const JsonView settings = Exists(path) ? ReadJson(path) : JsonView(Json::Object{}, path);
  if (const JsonView names = settings["model_input_names"]; names.present())
    return std::ranges::count(names.Strings(), "token_type_ids") == 0;
  const JsonView& declares = settings["tokenizer_class"].present() ? settings : files.config;
  const std::string declared = declares.Get("tokenizer_class", "").String();
  if (declared.empty()) return !IsOneOf(files.config["model_type"].String(), kTypesWithTypes);
  std::string_view stem = declared;
  if (stem.ends_with("Fast")) stem.remove_suffix(std::string_view("Fast").size());
  constexpr std::string_view end = "Tokenizer";
  return !stem.ends_with(end) || !IsOneOf(stem.substr(0, stem.size() - end.size()), kClassesWithTypes);
}

template <>
std::unique_ptr<Model> LoadModel<Model>(const std::string& folder, const LoadModelOptions& options) {
  const ModelFolder files = OpenModelFolder(folder);
  return LoadFamily(FamilyOf(files), files, options);
}

}  // namespace headlight
