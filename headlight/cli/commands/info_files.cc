#include "headlight/cli/commands/info_files.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/io/config_table.h"
#include "headlight/io/transformers_config_keys.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTokenizer = "tokenizer.json", kTokenizerConfig = "tokenizer_config.json",
                           kGeneration = "generation_config.json";

bool EndsInOneOf(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// The files of a folder that were read. The keys are paths in the folder.
struct FolderRecord {
  std::map<std::string, std::vector<JsonView>> files;
  bool Has(std::string_view name) const { return files.contains(std::string(name)); }
};

FolderRecord RecordOf(const std::string& folder, const ReadRecord& record) {
  FolderRecord in_folder;
  const fs::path root = fs::path(folder).lexically_normal() / "";
  for (const auto& [path, views] : record.files()) {
    const fs::path name = fs::path(path).lexically_normal().lexically_relative(root);
    if (!name.empty() && *name.begin() != "..") in_folder.files.emplace(name.string(), views);
  }
  return in_folder;
}

// Returns the reason why a file was not read.
std::string ReasonForFile(std::string_view path, const FolderRecord& read, std::string_view weights) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name == "shortlist.safetensors") return "is for --shortlist";
  if (name.starts_with("optimizer.") || name.starts_with("scheduler.") || name.starts_with("rng_state") ||
      IsOneOf(name, {"trainer_state.json", "training_args.bin", "training.json", "training.svg", "metrics.jsonl"}))
    return "belongs to a training";
  if (EndsInOneOf(name, {".safetensors", ".bin", ".h5", ".msgpack", ".onnx", ".gguf", ".ot", ".pt", ".pth", ".ckpt",
                         ".tflite", ".mlmodel", ".index.json"}))
    return fmt::format("is not needed: the weights are in {}", weights);
  if (EndsInOneOf(name, {".md", ".gitattributes", ".gitignore", "LICENSE", "LICENSE.txt", "NOTICE", ".png", ".jpg"}))
    return "is documentation";
  if (IsOneOf(name, {"vocab.txt", "vocab.json", "merges.txt", "added_tokens.json", "special_tokens_map.json"}) ||
      name == kTokenizer || name == kTokenizerConfig || EndsInOneOf(name, {".spm", ".model"}))
    return read.Has(kTokenizer) ? "is not needed: the tokenizer is in tokenizer.json"
                                : "is not part of this model's tokenizer";
  if (IsOneOf(name, {"preprocessor_config.json", "processor_config.json"})) return "is for models that read images";
  if (name == kGeneration) return "is for models that write text";
  return "is not a known file of a model";
}

// Returns the reason why a key of tokenizer_config.json was not read.
std::string ReasonForTokenizerKey(std::string_view key, bool has_tokenizer_json) {
  if (IsOneOf(key, {"pad_to_multiple_of", "pad_token_type_id", "padding", "padding_side", "tokenizer_padding"}))
    return "is for padding, which headlight does not need";
  if (IsOneOf(key, {"max_len", "model_max_length"})) return "is not needed: the model has a maximum length";
  if (IsOneOf(key, {"max_length", "return_attention_mask", "return_tensors", "return_token_type_ids", "stride",
                    "tokenizer_truncation", "truncation", "truncation_strategy", "verbose"}))
    return "is for arguments of Transformers' functions";
  if (IsOneOf(key, {"chat_control_tokens", "chat_template", "grounded_generation_template", "response_schema",
                    "response_template", "tool_use_template", "use_default_system_prompt"}))
    return "is for chats";
  if (IsOneOf(key,
              {"auto_map", "backend", "files_loaded", "from_slow", "init_inputs", "is_local", "local_files_only",
               "merges_file", "name_or_path", "processor_class", "special_tokens_map_file", "spm_file",
               "tokenizer_file", "tokenizers_version", "transformers_version", "use_fast", "version", "vocab_file"}))
    return "names the origin of the tokenizer";
  if (fmt::format(" {}", kTransformersTokenizerKeys).find(fmt::format(" {} ", key)) == std::string::npos)
    return "is not a key that headlight or Transformers reads";
  return has_tokenizer_json ? "is not needed: the tokenizer is in tokenizer.json" : "has no effect on this tokenizer";
}

std::string ReasonForSetting(std::string_view file, const std::string& key, const FolderRecord& read) {
  if (file == "config.json") return std::string(ReasonToIgnoreKey(key));
  if (file == kTokenizerConfig) return ReasonForTokenizerKey(key, read.Has(kTokenizer));
  return "has no effect on results";
}

// The keys of a JSON file that were read, and the ignored keys whose values are not null.
struct Settings {
  std::vector<std::string> read, ignored;
};
std::optional<Settings> SettingsOf(const std::string& file, const std::vector<JsonView>& views) {
  const std::string name = file.substr(file.rfind('/') + 1);
  if (views.empty() || name.find("config") == name.npos || views.front().value().As<Json::Object>() == nullptr)
    return std::nullopt;
  Settings settings;
  std::vector<std::vector<std::string>> unread;
  for (const JsonView& view : views) unread.push_back(view.Unread());
  for (const Json::Member& member : views.front().Object()) {
    if (member.value.is_null()) continue;
    const bool ignored = std::ranges::all_of(
        unread, [&](const auto& names) { return std::ranges::find(names, member.name) != names.end(); });
    (ignored ? settings.ignored : settings.read).push_back(member.name);
  }
  return settings;
}

// Returns the paths of the files in a folder, relative to the folder. If no file of a subfolder was read, only the
// subfolder's path is returned.
std::vector<std::string> PathsIn(const std::string& folder, const FolderRecord& read) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto first = read.files.lower_bound(name + "/");
    if (!entry.is_directory(ignored)) {
      paths.push_back(name);
    } else if (first == read.files.end() || !first->first.starts_with(name + "/")) {
      paths.push_back(name + "/");
    } else {
      for (const fs::directory_entry& inside : fs::directory_iterator(entry.path(), ignored))
        paths.push_back(name + "/" + inside.path().filename().string());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

void AddFiles(const std::string& folder, const ReadRecord& record, const ModelFolder& files,
              Json::Object& description) {
  const FolderRecord read = RecordOf(folder, record);
  const std::string weights = files.weights.path().substr(files.weights.path().rfind('/') + 1);
  Json::Array used, ignored;
  for (const std::string& path : PathsIn(folder, read)) {
    const auto file = read.files.find(path);
    if (file == read.files.end()) {
      const bool is_folder = path.ends_with('/');
      ignored.push_back(
          Json::Object{{"file", path},
                       {"reason", is_folder ? "contains no file that was read" : ReasonForFile(path, read, weights)}});
      continue;
    }
    const std::optional<Settings> settings = SettingsOf(path, file->second);
    if (!settings) {
      used.push_back(Json::Object{{"file", path}});
      continue;
    }
    if (settings->read.empty() && path == kGeneration) {
      ignored.push_back(Json::Object{{"file", path}, {"reason", ReasonForFile(path, read, weights)}});
      continue;
    }
    used.push_back(Json::Object{{"file", path}, {"settings", settings->read}});
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const std::string& key : settings->ignored) by_reason[ReasonForSetting(path, key, read)].push_back(key);
    for (const auto& [reason, keys] : by_reason)
      ignored.push_back(Json::Object{{"file", path}, {"settings", keys}, {"reason", reason}});
  }
  std::map<std::string, std::vector<std::string>> tensors;
  for (const IgnoredTensor& tensor : files.ignored) tensors[tensor.reason].push_back(tensor.name);
  for (const auto& [reason, names] : tensors)
    ignored.push_back(Json::Object{{"file", weights}, {"tensors", names}, {"reason", reason}});
  description.push_back({"read", std::move(used)});
  description.push_back({"ignored", std::move(ignored)});
}

std::string FileRow(const Json& file) {
  std::string row = *file.Find("file")->As<std::string>();
  for (const char* const list : {"settings", "tensors"})
    if (const Json* const names = file.Find(list); names != nullptr) {
      std::string separator = ": ";
      for (const Json& name : *names->As<Json::Array>()) {
        row += separator + *name.As<std::string>();
        separator = ", ";
      }
    }
  if (const Json* const reason = file.Find("reason"); reason != nullptr)
    row += fmt::format(" ({})", *reason->As<std::string>());
  return row;
}

}  // namespace headlight
