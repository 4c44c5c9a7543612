// Modifies config.json, or the index of the weights, in small folders of every family. Loading must throw Error, or the
// model must run.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/models/family.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr const char* kShard = "model-00001-of-00001.safetensors";

// A copy of a model folder with its weights in one shard.
struct Folder {
  fs::path from;     // the folder in the test data
  std::string path;  // empty before the first use
  Json::Object config, index;
};

std::vector<Folder> FindFolders() {
  std::vector<Folder> folders;
  const fs::path root = fs::path(__FILE__).parent_path().parent_path().parent_path();
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "tests/testdata"))
    if (entry.path().filename() == "model.safetensors") folders.push_back({entry.path(), {}, {}, {}});
  return folders;
}

// Copies a folder on its first use. Copying all folders at once would exceed the time limit per input.
void Copy(Folder& folder) {
  folder.path = fs::temp_directory_path() / "headlight-fuzz-XXXXXX";
  Ensure(mkdtemp(folder.path.data()) != nullptr, "cannot create {}", folder.path);
  fs::copy_file(folder.from, folder.path + "/" + kShard);
  folder.config = *ReadJson(folder.from.parent_path() / "config.json").value().As<Json::Object>();
  const Safetensors weights(folder.from);
  for (const auto& [name, tensor] : weights.tensors()) folder.index.push_back({name, kShard});
}

// Choices derived from the fuzzer's bytes. After the last byte, all choices are 0.
struct Choices {
  std::span<const std::uint8_t> bytes;

  std::size_t Below(std::size_t count) {
    std::size_t value = 0;
    for (std::size_t range = 1; range < count && !bytes.empty(); range *= 256) {
      value = 256 * value + bytes.front();
      bytes = bytes.subspan(1);
    }
    return value % count;
  }
};

// Removes a member, renames it, or changes its value.
void Change(Json::Object& members, Choices& choices) {
  static const std::array<Json, 24> values = {Json(),
                                              true,
                                              false,
                                              0,
                                              1,
                                              -1,
                                              2,
                                              3,
                                              5,
                                              7,
                                              64,
                                              1024,
                                              1 << 24,
                                              std::int64_t{1} << 62,
                                              0.5,
                                              -0.5,
                                              1e308,
                                              "",
                                              "relu",
                                              "no such",
                                              Json::Array{},
                                              Json::Array{"c2p"},
                                              Json::Array{1, "x"},
                                              Json::Object{{"0", "a"}}};
  if (members.empty()) return;
  const auto at = members.begin() + static_cast<std::ptrdiff_t>(choices.Below(members.size()));
  switch (choices.Below(4)) {
    case 0:
      members.erase(at);
      break;
    case 1:
      at->name = members[choices.Below(members.size())].name;
      break;
    default:
      at->value = values[choices.Below(values.size())];
  }
}

void Compute(const Model& model) {
  const std::vector<std::int32_t> ids = {2, 3, 4};
  const Sequences texts = {{0, 2}, {2, 1}};
  Context context;
  if (const auto* const encoder = dynamic_cast<const TextEncoder*>(&model)) encoder->Encode(context, ids, {}, texts);
  if (const auto* const decoder = dynamic_cast<const LanguageModel*>(&model)) decoder->Decode(context, ids, texts);
  if (const auto* const both = dynamic_cast<const EncoderDecoder*>(&model)) both->Encode(context, ids, texts);
  if (const auto* const pairs = dynamic_cast<const RegionTextEncoder*>(&model)) {
    const RegionTextEncoder::Limits& limits = pairs->limits();
    const Grid patch = limits.patch;
    Regions regions{Tensor::Zeros({3, limits.features}), Tensor::Zeros({3, limits.box_numbers}), texts};
    if (patch.cells() > 0)
      regions = PatchRegions(std::vector{Tensor::Zeros({2 * patch.height, patch.width, limits.channels}),
                                         Tensor::Zeros({patch.height, 3 * patch.width, limits.channels})},
                             patch, limits.channels);
    pairs->Pool(context, pairs->Encode(context, ids, {}, texts, regions));
  }
  if (const auto* const captions = dynamic_cast<const CaptionModel*>(&model)) {
    const Tensor image = Tensor::Zeros({16, 16, 3});
    const Memory memory = captions->MemoryOf(context, captions->EncodeImages(context, {&image, 1}));
    if (captions->uses().captions) captions->Decode(context, ids, {{0, 3}}, memory);
  }
}

void Run(Choices choices) {
  static std::vector<Folder> folders = FindFolders();
  Folder& folder = folders[choices.Below(folders.size())];
  if (folder.path.empty()) Copy(folder);
  Json::Object config = folder.config, index = folder.index;
  for (int changes = 0; changes < 5 && !choices.bytes.empty(); ++changes)
    Change(choices.Below(8) == 0 ? index : config, choices);
  try {
    // WriteFile is not used, because it waits for the disk.
    std::ofstream(folder.path + "/config.json") << Json(std::move(config)).Line();
    std::ofstream(folder.path + "/model.safetensors.index.json")
        << Json(Json::Object{{"weight_map", std::move(index)}}).Line();
    Compute(*LoadModel(folder.path));
  } catch (const Error& error) {
    if (error.cause() != ErrorCause::user) std::abort();
  }
}

}  // namespace
}  // namespace headlight

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headlight::Run({std::span(data, size)});
  return 0;
}
