// headlight info: describes a model.
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "headlight/base/json.h"
#include "headlight/cli/commands/info_files.h"
#include "headlight/cli/commands/model_argument.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/folder_description.h"
#include "headlight/text/printable.h"

namespace headlight::info {
namespace {

struct Options {
  std::string folder;
  bool json = false;
};

std::int64_t Bytes(const Parameters& parameters) {
  std::int64_t bytes = 0;
  for (const Parameter& parameter : parameters.all())
    bytes += parameter.value.elements() * SizeOf(DType::float32) + static_cast<std::int64_t>(parameter.packed.bytes());
  return bytes;
}

// Returns the number and the total size in bytes of the stored tensors of each type.
Json Stored(const Safetensors& weights) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> types;
  for (const auto& [name, tensor] : weights.tensors()) {
    auto& [count, bytes] = types[Name(tensor.type)];
    ++count;
    bytes += static_cast<std::int64_t>(tensor.bytes.size());
  }
  Json::Object stored;
  for (const auto& [type, sizes] : types)
    stored.push_back({type, Json::Object{{"tensors", sizes.first}, {"bytes", sizes.second}}});
  return stored;
}

Json::Object Describe(const std::string& folder, const ModelFolder& files, const Model& model) {
  const Parameters& parameters = model.parameters();
  Json::Object description = {{"family", files.config["model_type"].String()},
                              {"parameters", parameters.count()},
                              {"compute", Name(parameters.all().front().compute)},
                              {"memory_bytes", Bytes(parameters)},
                              {"stored", Stored(files.weights)}};
  for (Json::Member& member : DescribeFolder(folder, files, model)) description.push_back(std::move(member));
  return description;
}

// Formats a JSON value as text, such as "F32: tensors 39, bytes 19120".
std::string InWords(const Json& value) {
  if (const auto* text = value.As<std::string>()) return *text;
  std::string words;
  const auto add = [&words](const std::string& word) { words += (words.empty() ? "" : ", ") + word; };
  if (const auto* items = value.As<Json::Array>()) {
    for (const Json& item : *items) add(InWords(item));
  } else if (const auto* members = value.As<Json::Object>()) {
    for (const Json::Member& member : *members)
      add(fmt::format("{}{} {}", member.name, member.value.As<Json::Object>() != nullptr ? ":" : "",
                      InWords(member.value)));
  } else {
    return value.Line();
  }
  return words;
}

void Run(const Options& options) {
  const ReadRecord record;
  const ModelFolder files = OpenModelFolder(options.folder);
  const std::unique_ptr<Model> model = LoadFamily(FamilyOf(files), files, {.purpose = LoadFor::computing});
  Json::Object description = Describe(options.folder, files, *model);
  const std::vector<std::string> errors = UnsupportedSettings(files, *model);
  if (!errors.empty()) description.push_back({"not_supported", errors});
  if (!IsNpz(options.folder)) AddFiles(options.folder, record, files, description);
  if (options.json) return WriteResult(Json(std::move(description)).Line() + "\n");
  for (const Json::Member& member : description) {
    const bool are_files = member.name == "read" || member.name == "ignored";
    if (!are_files) {
      WriteResult(fmt::format("{:17} {}\n", member.name, InWords(member.value)));
      continue;
    }
    for (const Json& file : *member.value.As<Json::Array>())
      WriteResult(fmt::format("{:17} {}\n", member.name, InRow(FileRow(file))));
  }
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "info", "Describe a model: family, sizes, memory, tokenizer", Run);
  AddModel(command, options.folder, "Folder of the model, a GGUF file, or an .npz file of AlphaFold 2");
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nSome names of the output:\n"
      "  memory_bytes   memory of the loaded weights\n"
      "  stored         size of the tensors in the files, by type\n"
      "  positions      maximum input, in tokens\n"
      "  longest_text   maximum input of `embed`, in tokens\n"
      "  read           files and settings that commands read\n"
      "  ignored        the others, each with the reason\n\n"
      "Example:\n"
      "  headlight info model --json";
}

}  // namespace headlight::info
