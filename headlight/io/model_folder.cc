#include "headlight/io/model_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kConfig = "config.json";
constexpr std::string_view kGenerationConfig = "generation_config.json";
constexpr std::string_view kWeights = "model.safetensors";
constexpr std::string_view kWeightsIndex = "model.safetensors.index.json";  // of weights in several files

// Settings of generation, which older checkpoints keep in config.json.
constexpr std::string_view kSettingsOfUse[] = {"early_stopping", "forced_bos_token_id", "length_penalty",
                                               "max_length",     "min_length",          "no_repeat_ngram_size",
                                               "num_beams",      "task_specific_params"};

std::string File(const std::string& folder, std::string_view name) { return folder + "/" + std::string(name); }

bool Exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

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

// Throws Error saying why a folder without safetensors cannot be opened.
[[noreturn]] void RefuseWeights(const std::string& path) {
  for (const std::string& name : NamesIn(path)) {
    if (EndsInOneOf(name, {".bin", ".pt", ".pth", ".ckpt"})) {
      Fail(
          "{}: weights in Python's pickle format are not read, since a pickle can run any code: save them as {} with "
          "Transformers' model.save_pretrained(FOLDER)",
          File(path, name), kWeights);
    }
    if (EndsInOneOf(name, {".h5", ".msgpack", ".gguf", ".onnx", ".npz"})) {
      Fail("{}: weights in this format are not read: save them as {} with Transformers' model.save_pretrained(FOLDER)",
           File(path, name), kWeights);
    }
  }
  Fail("{}: holds no {}: the model has no weights", path, kWeights);
}

// True for the names of files that headlight or Transformers writes into a model's folder.
bool IsPartOfModel(std::string_view name) {
  static constexpr std::array<std::string_view, 11> names = {
      kConfig,         kGenerationConfig, "special_tokens_map.json", "added_tokens.json",
      "merges.txt",    "metrics.jsonl",   "tokenizer.json",          "tokenizer_config.json",
      "training.json", "training.svg",    "preprocessor_config.json"};
  return std::ranges::find(names, name) != names.end() || name.starts_with("vocab.") ||
         EndsInOneOf(name, {".safetensors", ".safetensors.index.json", ".spm", ".model"}) ||
         name.find(".headlight-new-") != std::string_view::npos;  // left by a process that was killed
}

bool IsOfTraining(std::string_view name) {
  return name == "metrics.jsonl" || name == "training.json" || name == "training.svg";
}

}  // namespace

ModelFolder OpenModelFolder(const std::string& path) {
  Check(Exists(path), "{}: there is no such folder; a model is a folder on this machine, nothing is downloaded", path);
  std::error_code ignored;
  Check(fs::is_directory(path, ignored), "{}: is a file; a model is a folder with {} and {}", path, kConfig, kWeights);
  if (!Exists(File(path, kConfig))) {
    std::vector<std::string> names = NamesIn(path);
    const bool more = names.size() > 3;
    names.resize(std::min<std::size_t>(names.size(), 3));
    for (std::string& name : names) name = Quoted(name);
    Fail("{}: is not a model: there is no {}, but {}{}", path, kConfig,
         names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")), more ? " and more" : "");
  }
  JsonView config = ReadJson(File(path, kConfig));
  config["model_type"].String();
  const bool whole = Exists(File(path, kWeights));
  if (!whole && !Exists(File(path, kWeightsIndex))) RefuseWeights(path);
  const std::string generation = File(path, kGenerationConfig);
  return {path, std::move(config), Exists(generation) ? ReadJson(generation) : JsonView(Json::Object{}, generation),
          whole ? Safetensors(File(path, kWeights)) : Safetensors::Sharded(File(path, kWeightsIndex))};
}

void CheckReplaceable(const std::string& path) {
  if (!Exists(path)) return;
  std::error_code ignored;
  Check(fs::is_directory(path, ignored), "{}: is a file, in whose place no model is saved", path);
  const std::vector<std::string> names = NamesIn(path);
  if (names.empty()) return;
  for (const std::string& name : names) {
    Check(IsPartOfModel(name) && fs::is_regular_file(File(path, name), ignored),
          "{}: holds {}, which is not part of a model and would be lost: name a new or empty folder", path,
          Quoted(name));
  }
  // Other programs call their files config.json too.
  const std::string config = File(path, kConfig);
  Check(Exists(config) && ReadJson(config).Get("model_type", "").String() != "",
        "{}: holds {}, but no {} of a model: name a new or empty folder", path, Quoted(names.front()), kConfig);
}

void SaveModelFolder(const std::string& path, const std::function<void(const std::string& folder)>& fill) {
  CheckReplaceable(path);
  std::error_code error;
  const fs::path parent = fs::absolute(path, error).lexically_normal().parent_path();
  fs::create_directories(parent, error);
  Check(!error, "{}: cannot create the folder {}: {}", path, parent.string(), error.message());
  ReplaceFolder(path, fill);
}

void CopyBesideModel(const std::string& from, const std::string& to) {
  std::set<std::string, std::less<>> other = {std::string(kConfig), std::string(kWeights), std::string(kWeightsIndex)};
  if (!Exists(File(from, kWeights)) && Exists(File(from, kWeightsIndex)))
    for (const auto& [name, tensors] : ReadSafetensorsIndex(File(from, kWeightsIndex))) other.insert(name);
  for (const std::string& name : NamesIn(from)) {
    std::error_code error;
    const bool stray_shard = name.starts_with("model-") && name.ends_with(".safetensors");
    if (!IsPartOfModel(name) || IsOfTraining(name) || other.contains(name) || stray_shard ||
        !fs::is_regular_file(File(from, name), error))
      continue;
    fs::copy_file(File(from, name), File(to, name), fs::copy_options::overwrite_existing, error);
    Check(!error, "{}: cannot copy it to {}: {}", File(from, name), to, error.message());
  }
  if (!Exists(File(from, kConfig)) || !Exists(File(to, kConfig))) return;  // a tokenizer alone
  const Json config = ReadJson(File(from, kConfig)).value();
  Json copied = ReadJson(File(to, kConfig)).value();
  for (const std::string_view key : kSettingsOfUse)
    if (const Json* const value = config.Find(key)) copied.Set(key, *value);
  WriteFile(File(to, kConfig), copied.Text());
}

}  // namespace headlight
