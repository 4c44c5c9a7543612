#include "headlight/io/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/gguf.h"
#include "headlight/io/gguf_model.h"
#include "headlight/io/npz.h"
#include "headlight/io/torch_file.h"
#include "headlight/io/weights_index.h"

namespace headlight {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kConfig = "config.json";
constexpr std::string_view kGenerationConfig = "generation_config.json";
constexpr std::string_view kWeights = "model.safetensors";
constexpr std::string_view kWeightsIndex = "model.safetensors.index.json";  // index of weights in several files
constexpr std::string_view kTorchWeights = "pytorch_model.bin";
constexpr std::string_view kTorchWeightsIndex = "pytorch_model.bin.index.json";

// Keys of config.json that depend on the weights. They are saved if the model has them, and are never copied from
// another model.
constexpr std::string_view kWeightDependentKeys[] = {
    "_num_labels", "architectures", "dtype",        "finetuning_task",     "id2label",
    "label2id",    "num_labels",    "problem_type", "quantization_config", "torch_dtype"};

std::string File(const std::string& folder, std::string_view name) { return folder + "/" + std::string(name); }

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  } catch (const fs::filesystem_error& error) {
    Fail("{}: cannot list the folder: {}", folder, error.code().message());
  }
  std::ranges::sort(names);
  return names;
}

bool EndsInOneOf(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

// Return true for names of weights in formats that are not safetensors.
bool IsPickle(std::string_view name) { return EndsInOneOf(name, {".bin", ".pt", ".pth", ".ckpt"}); }
bool IsForeign(std::string_view name) { return EndsInOneOf(name, {".h5", ".msgpack", ".gguf", ".onnx"}); }

// Throws Error with the reason why a folder without weights cannot be opened.
[[noreturn]] void RefuseWeights(const std::string& path) {
  for (const std::string& name : NamesIn(path)) {
    if (IsNpz(name)) Fail("{}: holds the weights of a model: name this file instead of its folder", File(path, name));
    if (IsPickle(name) || IsForeign(name)) {
      Fail(
          "{}: weights in this format are not read: {}save them as {} with Transformers' model.save_pretrained(FOLDER)",
          File(path, name), IsPickle(name) ? fmt::format("rename a file of torch.save to {}, or ", kTorchWeights) : "",
          kWeights);
    }
  }
  Fail("{}: holds neither {} nor {}: there are no weights", path, kWeights, kTorchWeights);
}

// Returns the name of the folder's weights file or index, or an empty name if both are missing. The order is as in
// Transformers.
std::string_view WeightsIn(const std::string& folder) {
  for (const std::string_view name : {kWeights, kWeightsIndex, kTorchWeights, kTorchWeightsIndex})
    if (Exists(File(folder, name))) return name;
  return "";
}

// Opens a weights file or index. For a file, stores the names of values that are not tensors in `others`.
Safetensors OpenWeightsFile(const std::string& path, std::vector<std::string>& others) {
  if (path.ends_with(".json")) return ReadShards(path);
  return path.ends_with(".bin") ? ReadTorchFile(path, &others) : Safetensors(path);
}

bool IsOfTokenizer(std::string_view name) {
  static constexpr std::string_view names[] = {"added_tokens.json", "merges.txt", "special_tokens_map.json",
                                               "tokenizer.json", "tokenizer_config.json"};
  return std::ranges::find(names, name) != std::end(names) || name.starts_with("vocab.") ||
         EndsInOneOf(name, {".spm", ".model"});
}

// Returns true for the settings files of sentence-transformers outside of its modules.
bool IsOfSentences(std::string_view name) {
  return name == "modules.json" || name == "config_sentence_transformers.json" ||
         (name.starts_with("sentence_") && name.ends_with("_config.json"));
}

// Returns true for pytorch_model.bin, pytorch_model-00001-of-00002.bin and the index of such files.
bool IsTorchWeights(std::string_view name) {
  return name.starts_with("pytorch_model") && EndsInOneOf(name, {".bin", ".bin.index.json"});
}

// Returns true for names of files that headlight, Transformers or sentence-transformers writes into a model's folder.
bool IsPartOfModel(std::string_view name) {
  static constexpr std::string_view names[] = {
      kConfig,        kGenerationConfig,          "metrics.jsonl",        "training.json",
      "training.svg", "preprocessor_config.json", "processor_config.json"};
  return std::ranges::find(names, name) != std::end(names) || IsOfTokenizer(name) || IsOfSentences(name) ||
         EndsInOneOf(name, {".safetensors", ".safetensors.index.json"}) || IsTorchWeights(name) ||
         name.find(".headlight-new-") != std::string_view::npos;  // temporary file of a killed process
}

// Returns true for the name of a sentence-transformers module's folder, such as 1_Pooling.
bool IsModuleName(std::string_view name) {
  return !name.empty() && name.front() >= '0' && name.front() <= '9' && name.find('_') != std::string_view::npos &&
         name.find('/') == std::string_view::npos;
}

// Returns true for a module's folder that contains only config.json and weights.
bool IsModule(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  if (!IsModuleName(name) || !fs::is_directory(File(folder, name), ignored)) return false;
  const std::vector<std::string> inside = NamesIn(File(folder, name));
  return std::ranges::all_of(
      inside, [](const std::string& file) { return file == kConfig || file == kWeights || file == kTorchWeights; });
}

// The folder of DALL-E's discrete VAE, which is a separate model.
constexpr std::string_view kCoder = "vae";

// Returns true if `name` is the folder of a discrete VAE and has only a model's files.
bool IsCoder(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  return name == kCoder && fs::is_directory(File(folder, name), ignored) &&
         std::ranges::all_of(NamesIn(File(folder, name)), [&](const std::string& inside) {
           return IsPartOfModel(inside) && fs::is_regular_file(File(File(folder, name), inside), ignored);
         });
}

bool IsOfTraining(std::string_view name) {
  return name == "metrics.jsonl" || name == "training.json" || name == "training.svg";
}

}  // namespace

bool IsNpz(std::string_view path) { return path.ends_with(".npz"); }

namespace {

// Describes the model of an .npz file without reading its arrays.
ModelFolder DescribeNpz(const std::string& path) {
  const std::vector<std::string> names = NamesInNpz(path);
  Check(!names.empty(), "{}: holds no array", path);
  const std::string& first = *std::ranges::min_element(names);
  const std::string type = first.substr(0, first.find('/'));
  return {path, JsonView(Json::Object{{"model_type", type}}, path), JsonView(Json::Object{}, path),
          Safetensors::Of(path, {})};
}

bool IsNpzFile(const std::string& path) {
  std::error_code ignored;
  return IsNpz(path) && fs::is_regular_file(path, ignored);
}

}  // namespace

std::string TransformerFolder(const std::string& path) {
  if (Exists(File(path, kConfig)) || !Exists(File(path, "modules.json"))) return path;
  for (const JsonView& module : ReadJson(File(path, "modules.json")).Items()) {
    const std::string name = module.Get("path", "").String();
    if (module["type"].String().ends_with(".Transformer") && IsModuleName(name)) return File(path, name);
  }
  return path;
}

namespace {

// Renames the file's tensors by name_of. Tensors with an empty new name are left out.
Safetensors Renamed(Safetensors file, const std::function<std::string(const std::string& name)>& name_of) {
  std::vector<StoredTensor> tensors;
  for (const auto& [name, tensor] : file.tensors()) {
    std::string renamed = name_of(name);
    if (renamed.empty()) continue;
    tensors.push_back(tensor);
    tensors.back().name = std::move(renamed);
  }
  std::string path = file.path();
  return Safetensors::Of(std::move(path), std::move(tensors), std::make_shared<Safetensors>(std::move(file)));
}

// Returns the reason to ignore a tensor that another program stores with the model, and that Transformers ignores.
std::string ReasonToIgnore(std::string_view name) {
  if (name.starts_with("v_head.")) return "TRL's value head, which is for training";
  if (name.ends_with("encoder.version") || name.ends_with("decoder.version")) return "fairseq's version of the format";
  if (name.ends_with("._float_tensor")) return "fairseq's dtype marker";
  return "";
}

Safetensors OpenWeights(const std::string& folder, std::vector<std::string>& others) {
  const std::string_view weights = WeightsIn(folder);
  if (weights.empty()) RefuseWeights(folder);
  Safetensors file = OpenWeightsFile(File(folder, weights), others);
  std::string prefix;
  for (bool longer = !file.tensors().empty(); longer;) {
    longer = false;
    for (const std::string_view one : {"module.", "_orig_mod."}) {
      const std::string with = prefix + std::string(one);
      const auto begins = [&](const auto& tensor) {
        return tensor.first.starts_with(with) && tensor.first.size() > with.size();
      };
      if (!std::ranges::all_of(file.tensors(), begins)) continue;
      prefix = with;
      longer = true;
    }
  }
  if (prefix.empty()) return file;
  return Renamed(std::move(file), [&](const std::string& name) { return name.substr(prefix.size()); });
}

}  // namespace

Safetensors OpenWeights(const std::string& folder) {
  std::vector<std::string> others;
  return OpenWeights(folder, others);
}

ModelFolder OpenModelFolder(const std::string& path) {
  if (const std::string transformer = TransformerFolder(path); transformer != path) return OpenModelFolder(transformer);
  if (IsGguf(path)) {
    GgufModel model = OpenGgufModel(path);
    return {path, std::move(model.config), JsonView(Json::Object{}, path), std::move(model.weights)};
  }
  if (IsNpzFile(path)) {
    ModelFolder files = DescribeNpz(path);
    files.weights = ReadNpz(path);
    return files;
  }
  Check(Exists(path) || !(IsNpz(path) || path.ends_with(".gguf")), "{}: no such file", path);
  Check(Exists(path),
        "{}: no such folder; a model is a folder or a GGUF file, and `headlight pull ORG/NAME` downloads one", path);
  std::error_code ignored;
  Check(fs::is_directory(path, ignored), "{}: is a file; a model is a folder with {} and {}", path, kConfig, kWeights);
  if (!Exists(File(path, kConfig))) {
    std::vector<std::string> names = NamesIn(path);
    const bool more = names.size() > 3;
    names.resize(std::min<std::size_t>(names.size(), 3));
    for (std::string& name : names) name = Quoted(name);
    Fail("{}: is not a model: there is no {}{}{}", path, kConfig,
         names.empty() ? ", and the folder is empty" : fmt::format(", but {}", fmt::join(names, ", ")),
         more ? " and more" : "");
  }
  JsonView config = ReadJson(File(path, kConfig));
  config["model_type"].String();
  std::vector<std::string> others;
  Safetensors weights = OpenWeights(path, others);
  std::vector<IgnoredTensor> left_out;
  for (const auto& [name, tensor] : weights.tensors())
    if (std::string reason = ReasonToIgnore(name); !reason.empty()) left_out.push_back({name, std::move(reason)});
  if (!left_out.empty())
    weights = Renamed(std::move(weights),
                      [](const std::string& name) { return ReasonToIgnore(name).empty() ? name : std::string(); });
  for (std::string& name : others) left_out.push_back({std::move(name), "is not a tensor"});
  const std::string generation = File(path, kGenerationConfig);
  return {path, std::move(config), Exists(generation) ? ReadJson(generation) : JsonView(Json::Object{}, generation),
          std::move(weights), std::move(left_out)};
}

ModelFolder OpenModelDescription(const std::string& path) {
  return IsNpzFile(path) ? DescribeNpz(path) : OpenModelFolder(path);
}

void CheckReplaceable(const std::string& path) {
  if (!Exists(path)) return;
  std::error_code ignored;
  Check(fs::is_directory(path, ignored), "{}: is a file, which is not replaced by a model", path);
  const std::vector<std::string> names = NamesIn(path);
  if (names.empty()) return;
  for (const std::string& name : names) {
    Check((IsPartOfModel(name) && fs::is_regular_file(File(path, name), ignored)) || IsModule(path, name) ||
              IsCoder(path, name),
          "{}: holds {}, which is not part of a model and would be lost: name a new or empty folder", path,
          Quoted(name));
  }
  // Other programs also have files called config.json.
  const std::string config = File(path, kConfig);
  Check(Exists(config) && ReadJson(config).Get("model_type", "").String() != "",
        "{}: holds {}, but no {} of a model: name a new or empty folder", path, Quoted(names.front()), kConfig);
}

void CheckTokenizerReplaceable(const std::string& path) {
  if (!Exists(path)) return;
  std::error_code ignored;
  Check(fs::is_directory(path, ignored), "{}: is a file; a tokenizer is saved in a folder", path);
  for (const std::string& name : NamesIn(path)) {
    const std::string config = "tokenizer_config.json";
    const bool trained =
        name == "tokenizer.json" ||
        (name == config && ReadJson(File(path, name)).Get("tokenizer_class", "").String() == "PreTrainedTokenizerFast");
    Check(trained || !(IsPartOfModel(name) || IsPickle(name) || IsForeign(name) || IsNpz(name)),
          "{}: holds {}, part of a model or of another tokenizer: name another folder", path, Quoted(name));
  }
}

void SaveModelFolder(const std::string& path, const std::function<void(const std::string& folder)>& fill) {
  CheckReplaceable(path);
  std::error_code error;
  const fs::path parent = fs::absolute(path, error).lexically_normal().parent_path();
  fs::create_directories(parent, error);
  Check(!error, "{}: cannot create the folder {}: {}", path, parent.string(), error.message());
  ReplaceFolder(path, fill);
}

namespace {

void CopyFile(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  Check(!error, "{}: cannot copy it to {}: {}", from, to, error.message());
}

void CopyWhere(const std::string& from, const std::string& to, const std::function<bool(const std::string&)>& wanted) {
  std::error_code ignored;
  for (const std::string& name : NamesIn(from))
    if (wanted(name) && fs::is_regular_file(File(from, name), ignored)) CopyFile(File(from, name), File(to, name));
}

// Copies the settings of the modules that modules.json lists. Each module is in a folder.
void CopyModules(const std::string& from, const std::string& to) {
  if (!Exists(File(from, "modules.json"))) return;
  for (const JsonView& module : ReadJson(File(from, "modules.json")).Items()) {
    const std::string name = module.Get("path", "").String(), config = File(from, name) + "/" + std::string(kConfig);
    if (!IsModuleName(name) || !Exists(config) || File(from, name) == TransformerFolder(from)) continue;
    std::error_code error;
    fs::create_directory(File(to, name), error);
    Check(!error, "{}: cannot create the folder: {}", File(to, name), error.message());
    CopyFile(config, File(File(to, name), kConfig));
    for (const std::string_view file : {kWeights, kTorchWeights})
      if (const std::string weights = File(File(from, name), file); Exists(weights))
        CopyFile(weights, File(File(to, name), file));
  }
}

// Copies the settings next to a TransformerFolder. In `to` the model is not in a subfolder, so modules.json is changed
// accordingly.
void CopySentenceSettings(const std::string& from, const std::string& to) {
  CopyWhere(from, to, IsOfSentences);
  Json::Array modules;
  for (const JsonView& module : ReadJson(File(from, "modules.json")).Items()) {
    Json copied = module.value();
    if (File(from, module.Get("path", "").String()) == TransformerFolder(from)) copied.Set("path", "");
    modules.push_back(std::move(copied));
  }
  WriteFile(File(to, "modules.json"), Json(std::move(modules)).Text());
}

}  // namespace

void CopyTokenizer(const std::string& from, const std::string& to) { CopyWhere(from, to, IsOfTokenizer); }

void CopyCoder(const std::string& coder, const std::string& to) {
  std::error_code error;
  fs::create_directory(File(to, kCoder), error);
  Check(!error, "{}: cannot create the folder: {}", File(to, kCoder), error.message());
  CopyWhere(coder, File(to, kCoder),
            [](const std::string& name) { return IsPartOfModel(name) && !IsOfTraining(name); });
}

void CopyBesideModel(const std::string& folder, const std::string& to) {
  const std::string from = TransformerFolder(folder);
  std::set<std::string, std::less<>> weights = {std::string(kWeights), std::string(kWeightsIndex)};
  if (const std::string_view index = WeightsIn(from); index.ends_with(".json"))
    for (const auto& [name, tensors] : ReadWeightsIndex(File(from, index))) weights.insert(name);
  CopyWhere(from, to, [&](const std::string& name) {
    const bool stray_shard = name.starts_with("model-") && name.ends_with(".safetensors");
    return IsPartOfModel(name) && !IsOfTraining(name) && !weights.contains(name) && !stray_shard &&
           !IsTorchWeights(name) && name != kConfig;
  });
  if (folder != from) CopySentenceSettings(folder, to);
  CopyModules(folder, to);
  if (const std::string coder = File(from, kCoder); Exists(coder)) CopyCoder(coder, to);
  // If generation_config.json is missing, the generation settings are in config.json.
  if (std::error_code ignored; !Exists(File(from, kGenerationConfig))) fs::remove(File(to, kGenerationConfig), ignored);
  Json copied = ReadJson(File(to, kConfig)).value();
  const Json config = ReadJson(File(from, kConfig)).value();
  for (const Json::Member& member : *config.As<Json::Object>())
    if (copied.Find(member.name) == nullptr &&
        std::ranges::find(kWeightDependentKeys, member.name) == std::end(kWeightDependentKeys))
      copied.Set(member.name, member.value);
  WriteFile(File(to, kConfig), copied.Text());
}

}  // namespace headlight
