#include "headlight/pipelines/sentence_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/gguf.h"
#include "headlight/base/json.h"
#include "headlight/io/config_table.h"
#include "headlight/io/model_folder.h"
#include "headlight/io/safetensors.h"
#include "headlight/ops/layer_norm.h"
#include "headlight/ops/linear.h"

namespace headlight {
namespace {

struct Mode {
  const char *key, *name;
  Pooling pooling;
};
// The poolings, in the order in which sentence-transformers concatenates them in the older format.
constexpr Mode kModes[] = {{"pooling_mode_cls_token", "cls", Pooling::first},
                           {"pooling_mode_max_tokens", "max", Pooling::most},
                           {"pooling_mode_mean_tokens", "mean", Pooling::mean},
                           {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", Pooling::mean_sqrt},
                           {"pooling_mode_weightedmean_tokens", "weightedmean", Pooling::weighted_mean},
                           {"pooling_mode_lasttoken", "lasttoken", Pooling::last}};

Pooling PoolingNamed(const JsonView& name) {
  const std::string given = name.String({"cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"});
  return std::ranges::find_if(kModes, [&](const Mode& mode) { return given == mode.name; })->pooling;
}

// Reads the pooling modes. Older files have a boolean for each mode. Newer files have the name of a mode or a list of
// names.
void ReadPooling(const JsonView& config, SentenceModules& reading) {
  std::vector<Pooling> poolings;
  for (const Mode& mode : kModes)
    if (config.Get(mode.key, false).Bool()) poolings.push_back(mode.pooling);
  if (const JsonView named = config["pooling_mode"]; named.present()) {
    poolings.clear();
    if (named.value().As<Json::Array>() == nullptr) {
      poolings.push_back(PoolingNamed(named));
    } else {
      for (const JsonView& name : named.Items()) poolings.push_back(PoolingNamed(name));
      Check(!poolings.empty() && poolings.size() <= std::size(kModes), "{}: has {} modes, and 1 to {} are allowed",
            named.location(), poolings.size(), std::size(kModes));
    }
  }
  if (!poolings.empty()) reading.poolings = std::move(poolings);
  reading.pools_prompt = config.Get("include_prompt", true).Bool();
  config.RefuseUnread({"embedding_dimension", "word_embedding_dimension"});
}

Tensor ReadShaped(const Safetensors& file, const std::string& name, const Shape& shape) {
  const Shape& stored = file.At(name).shape;
  Check(stored == shape, "{}: tensor {} has the shape {}, and its config.json says {}", file.path(), name,
        ToString(stored), ToString(shape));
  return file.Read(name);
}

constexpr ConfigName<Activation> kActivations[] = {{"Identity", Activation::none},
                                                   {"Tanh", Activation::tanh},
                                                   {"ReLU", Activation::relu},
                                                   {"GELU", Activation::gelu},
                                                   {"SiLU", Activation::silu}};

// Reads a linear layer, an activation and optionally a residual connection. `inputs` is the size of the input.
VectorModule ReadDense(const std::string& folder, std::int64_t inputs) {
  const JsonView config = ReadJson(folder + "/config.json");
  VectorModule dense;
  dense.kind = VectorModule::Kind::dense;
  Check(config["in_features"].Integer(1, kLargestSize) == inputs,
        "{}: is not {}, the size of the previous module's output", config["in_features"].location(), inputs);
  const std::int64_t outputs = config["out_features"].Integer(1, kLargestSize);
  // The value is the name of a PyTorch class, such as "torch.nn.modules.activation.Tanh".
  const JsonView activation = config.Get("activation_function", "torch.nn.modules.activation.Tanh");
  const std::string name = activation.String();
  const auto* const known =
      std::ranges::find(kActivations, name.substr(name.rfind('.') + 1), &ConfigName<Activation>::name);
  Check(name.starts_with("torch.nn.") && known != std::end(kActivations),
        "{}: {} is not supported; Identity, Tanh, ReLU, GELU and SiLU of torch.nn are", activation.location(),
        Quoted(name));
  dense.activation = known->value;
  for (const char* key : {"module_input_name", "module_output_name"})
    if (config[key].present()) config[key].String({"sentence_embedding"});
  const Safetensors file = OpenWeights(folder);
  dense.weight = ReadShaped(file, "linear.weight", {outputs, inputs});
  if (config.Get("bias", true).Bool()) dense.bias = ReadShaped(file, "linear.bias", {outputs});
  dense.adds_input = config.Get("use_residual", false).Bool();
  if (dense.adds_input && inputs != outputs) dense.residual = ReadShaped(file, "residual.weight", {outputs, inputs});
  config.RefuseUnread({});
  return dense;
}

VectorModule ReadLayerNorm(const std::string& folder, std::int64_t inputs) {
  const JsonView config = ReadJson(folder + "/config.json");
  Check(config["dimension"].Integer(1, kLargestSize) == inputs,
        "{}: is not {}, the size of the previous module's output", config["dimension"].location(), inputs);
  config.RefuseUnread({});
  const Safetensors file = OpenWeights(folder);
  VectorModule norm;
  norm.kind = VectorModule::Kind::layer_norm;
  norm.weight = ReadShaped(file, "norm.weight", {inputs});
  norm.bias = ReadShaped(file, "norm.bias", {inputs});
  return norm;
}

// Reads config_sentence_transformers.json.
void ReadSettings(const std::string& path, SentenceModules& reading) {
  if (!Exists(path)) return;
  const JsonView config = ReadJson(path);
  if (const JsonView prompts = config["prompts"]; prompts.present())
    for (const auto& [name, prompt] : prompts.Members())
      reading.prompts[name] = prompt.present() ? prompt.String() : "";
  if (const JsonView name = config["default_prompt_name"]; name.present()) {
    reading.default_prompt_name = name.String();
    Check(reading.prompts.contains(name.String()), "{}: there is no prompt {} in \"prompts\"", name.location(),
          Quoted(name.String()));
  }
  if (config["truncate_dim"].present()) reading.truncate_dim = config["truncate_dim"].Integer(1, kLargestSize);
  if (const JsonView similarity = config["similarity_fn_name"]; similarity.present()) {
    const std::string name = similarity.String({"cosine", "dot", "dot_product", "euclidean", "manhattan"});
    reading.similarity = name == "cosine"      ? Similarity::cosine
                         : name == "euclidean" ? Similarity::euclidean
                         : name == "manhattan" ? Similarity::manhattan
                                               : Similarity::dot;
  }
}

// Returns the path of the configuration file, if there is one. The file name depends on the class of the model.
std::optional<std::string> SentenceConfig(const std::string& folder) {
  for (const char* kind : {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"})
    if (std::string path = fmt::format("{}/sentence_{}_config.json", folder, kind); Exists(path)) return path;
  return std::nullopt;
}

// Reads max_seq_length, or the tokenizer's model_max_length, which is 1e30 if there is no limit.
void ReadLongest(const std::string& folder, SentenceModules& reading) {
  if (const std::optional<std::string> path = SentenceConfig(folder)) {
    const JsonView config = ReadJson(*path);
    if (config["max_seq_length"].present()) reading.longest = config["max_seq_length"].Integer(2, 1 << 24);
    Check(!config.Get("do_lower_case", false).Bool(), "{}: lowercasing in addition to the tokenizer's is not supported",
          config["do_lower_case"].location());
  }
  const std::string tokenizer = folder + "/tokenizer_config.json";
  if (reading.longest || !Exists(tokenizer)) return;
  const JsonView longest = ReadJson(tokenizer)["model_max_length"];
  if (longest.present() && longest.Number(2) < 1 << 24) reading.longest = longest.Integer();
}

// Pools the rows from `first` on.
void Pool(Pooling pooling, const Matrix<float>& rows, std::int64_t first, float* vector) {
  const std::int64_t columns = rows.columns;
  std::copy_n(rows.row(pooling == Pooling::last ? rows.rows - 1 : first), columns, vector);
  const auto count = static_cast<float>(rows.rows - first);
  float scale = 1, weights = 0;
  switch (pooling) {
    case Pooling::first:
    case Pooling::last:
      return;
    case Pooling::most:
      for (std::int64_t row = first + 1; row < rows.rows; ++row)
        for (std::int64_t i = 0; i < columns; ++i) vector[i] = std::max(rows.row(row)[i], vector[i]);
      return;
    case Pooling::weighted_mean:
      std::fill_n(vector, columns, 0.0F);
      for (std::int64_t row = first; row < rows.rows; ++row) {
        weights += static_cast<float>(row + 1);
        for (std::int64_t i = 0; i < columns; ++i) vector[i] += static_cast<float>(row + 1) * rows.row(row)[i];
      }
      scale = 1 / weights;
      break;
    case Pooling::mean:
    case Pooling::mean_sqrt:
      for (std::int64_t row = first + 1; row < rows.rows; ++row)
        for (std::int64_t i = 0; i < columns; ++i) vector[i] += rows.row(row)[i];
      scale = 1 / (pooling == Pooling::mean ? count : std::sqrt(count));
      break;
  }
  for (std::int64_t i = 0; i < columns; ++i) vector[i] *= scale;
}

Tensor Apply(const VectorModule& module, const Tensor& vector) {
  if (module.kind == VectorModule::Kind::layer_norm) return ops::LayerNorm(vector, module.weight, module.bias);
  if (module.kind == VectorModule::Kind::normalize) {
    const Tensor unit = vector.Clone();
    const std::span<float> numbers = unit.span<float>();
    const float norm = std::sqrt(std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0F));
    for (float& number : numbers) number *= norm > 0 ? 1 / norm : 0;
    return unit;
  }
  const Tensor made = ops::Linear(vector, {.value = module.weight}, module.bias, module.activation);
  if (!module.adds_input) return made;
  const Tensor input = module.residual.empty() ? vector : ops::Linear(vector, {.value = module.residual});
  for (std::size_t i = 0; i < made.span<float>().size(); ++i) made.span<float>()[i] += input.span<float>()[i];
  return made;
}

}  // namespace

bool SentenceModules::normalizes() const {
  return std::ranges::count(modules, VectorModule::Kind::normalize, &VectorModule::kind) > 0;
}

std::int64_t SentenceModules::Dimension(std::int64_t model) const {
  std::int64_t dimension = model * std::ssize(poolings);
  for (const VectorModule& module : modules)
    if (module.kind == VectorModule::Kind::dense) dimension = module.weight.shape()[0];
  return std::min(dimension, truncate_dim.value_or(dimension));
}

std::string SentenceModules::PromptOf(EmbedAs purpose, const std::optional<std::string>& name) const {
  if (name) {
    const auto prompt = prompts.find(*name);
    if (prompt != prompts.end()) return prompt->second;
    std::string names;
    for (const auto& [known, text] : prompts) names += (names.empty() ? "" : ", ") + known;
    Fail("`prompt_name`: the model has no prompt {}; {}", Quoted(*name),
         names.empty() ? "it has no prompts" : "it has " + names);
  }
  const auto text_of = [&](const char* known) {
    const auto prompt = prompts.find(known);
    return prompt == prompts.end() ? "" : prompt->second;
  };
  if (purpose == EmbedAs::query && !text_of("query").empty()) return text_of("query");
  if (purpose == EmbedAs::document)
    for (const char* known : {"document", "passage", "corpus"})
      if (!text_of(known).empty()) return text_of(known);
  return default_prompt_name ? prompts.at(*default_prompt_name) : "";
}

namespace {

// Returns the pooling of an encoder in GGUF. The value 0 means no pooling. In this case, the mean is used, as for a
// folder without modules.json.
Pooling PoolingOfGguf(const Gguf& file) {
  const std::string key = file.Text("general.architecture") + ".pooling_type";
  constexpr Pooling poolings[] = {Pooling::mean, Pooling::mean, Pooling::first, Pooling::last};
  return file.contains(key) ? poolings[file.Integer(key, 0, std::ssize(poolings) - 1)] : Pooling::mean;
}

}  // namespace

SentenceModules ReadSentenceModules(const std::string& folder, std::int64_t model) {
  SentenceModules reading;
  if (IsGguf(folder)) reading.poolings = {PoolingOfGguf(Gguf(folder))};
  const std::string modules = folder + "/modules.json";
  if (!Exists(modules)) return reading;
  reading.given = true;
  for (const JsonView& module : ReadJson(modules).Items()) {
    const std::string type = module["type"].String();
    const std::string name = type.substr(type.rfind('.') + 1);
    const std::string own = module.Get("path", "").String(), path = folder + "/" + own;
    if (name == "Transformer") {
      Check(own.empty() || TransformerFolder(folder) != folder,
            "{}: a Transformer in a separate folder, {}, next to {}/config.json is not supported", module.location(),
            Quoted(own), folder);
    } else if (name == "Pooling") {
      ReadPooling(ReadJson(path + "/config.json"), reading);
    } else if (name == "Dense") {
      reading.modules.push_back(ReadDense(path, reading.Dimension(model)));
    } else if (name == "LayerNorm") {
      reading.modules.push_back(ReadLayerNorm(path, reading.Dimension(model)));
    } else if (name == "Normalize") {
      reading.modules.push_back({});
    } else {
      Check(name == "Dropout",
            "{}: {} is not supported; Transformer, Pooling, Dense, LayerNorm, Normalize and Dropout are",
            module["type"].location(), Quoted(type));
    }
  }
  ReadLongest(TransformerFolder(folder), reading);
  ReadSettings(folder + "/config_sentence_transformers.json", reading);
  return reading;
}

const char* Name(Pooling pooling) { return std::ranges::find(kModes, pooling, &Mode::pooling)->name; }

std::string Names(const std::vector<Pooling>& poolings) {
  std::string names;
  for (const Pooling pooling : poolings) names += fmt::format("{}{}", names.empty() ? "" : "+", Name(pooling));
  return names;
}

Tensor VectorOf(const Tensor& hidden, const SentenceModules& reading, std::int64_t prompt_tokens) {
  const std::int64_t model = hidden.columns();
  Tensor vector = Tensor::Empty({1, model * std::ssize(reading.poolings)});
  const std::int64_t first = reading.pools_prompt ? 0 : prompt_tokens;
  float* next = vector.data<float>();
  for (const Pooling pooling : reading.poolings) {
    Pool(pooling, hidden.matrix<float>(), first, next);
    next += model;
  }
  for (const VectorModule& module : reading.modules) vector = Apply(module, vector);
  const std::int64_t dimension = reading.Dimension(model);
  return dimension < vector.columns() ? vector.ViewColumns(0, dimension).Clone() : vector;
}

}  // namespace headlight
