#include "headlight/pipelines/folder_description.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/gguf.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/generation_settings.h"
#include "headlight/pipelines/sentence_modules.h"
#include "headlight/text/tokenizers/load_tokenizer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {
namespace {

void Append(Json::Object& description, Json::Object members) {
  for (Json::Member& member : members) description.push_back(std::move(member));
}

// Describes the tokenizer. A GGUF file with the tokenizer model no_vocab has no tokenizer.
void AddTokenizer(const std::string& folder, const Model& /*model*/, Json::Object& description) {
  if (IsGguf(folder) && Gguf(folder).Text("tokenizer.ggml.model") == "no_vocab") return;
  Append(description, PipelineTokenizer::Load(folder).Description());
}

void DescribeTextEncoder(const std::string& folder, const TextEncoder& encoder, Json::Object& description) {
  const TextEncoder::Limits& limits = encoder.limits();
  const SentenceModules modules = ReadSentenceModules(folder, limits.model);
  std::int64_t longest = limits.positions;
  if (modules.given) {
    description.push_back({"pooling", Names(modules.poolings)});
    description.push_back({"normalized", modules.normalizes()});
    if (const std::int64_t dimension = modules.Dimension(limits.model); dimension != limits.model)
      description.push_back({"vector", dimension});
    if (modules.similarity != Similarity::cosine) description.push_back({"similarity", Name(modules.similarity)});
    Json::Object prompts;
    for (const auto& [name, prompt] : modules.prompts)
      if (!prompt.empty()) prompts.push_back({name, prompt});
    if (!prompts.empty()) description.push_back({"prompts", std::move(prompts)});
    if (const std::string prompt = modules.PromptOf(EmbedAs::text); !prompt.empty())
      description.push_back({"prompt", prompt});
    longest = std::min(longest, modules.longest.value_or(longest));
  }
  description.push_back({"longest_text", longest});
  AddTokenizer(folder, encoder, description);
}

// Describes the tokenizer, or both tokenizers of a MarianMT.
void DescribeEncoderDecoder(const std::string& folder, const EncoderDecoder& /*model*/, Json::Object& description) {
  Append(description, LoadTokenizer(folder)->Description());
}

void DescribeDualEncoder(const std::string& folder, const DualEncoder& model, Json::Object& description) {
  if (model.limits().has_texts()) AddTokenizer(folder, model, description);
}

void ReadTypes(const ModelFolder& files, const TextEncoder& /*model*/) { LeavesOutTypes(files); }

void ReadGeneration(const ModelFolder& files, const LanguageModel& model) {
  ReadTextSettings(GenerationSettings(files), model.limits());
}

void ReadTranslation(const ModelFolder& files, const EncoderDecoder& model) {
  ReadTranslationSettings(GenerationSettings(files), {}, model.limits(), GenerationKind::translation);
}

void ReadImages(const ModelFolder& files, const Model& /*model*/) {
  if (Exists(files.File("preprocessor_config.json")) || Exists(files.File("processor_config.json")))
    LoadImageProcessor(files.path);
}

// A kind of model, and the functions that describe its files. Kinds that are not in kKinds only have an image
// processor.
struct KindFiles {
  std::string_view kind;
  void (*describe)(const std::string& folder, const Model& model, Json::Object& description);
  void (*read_settings)(const ModelFolder& files, const Model& model);
};

template <typename Kind, auto describe, auto read_settings>
constexpr KindFiles FilesOf() {
  return {Kind::kKind,
          [](const std::string& folder, const Model& model, Json::Object& description) {
            describe(folder, static_cast<const Kind&>(model), description);
          },
          [](const ModelFolder& files, const Model& model) { read_settings(files, static_cast<const Kind&>(model)); }};
}

constexpr KindFiles kKinds[] = {FilesOf<TextEncoder, DescribeTextEncoder, ReadTypes>(),
                                FilesOf<LanguageModel, AddTokenizer, ReadGeneration>(),
                                FilesOf<TextToImageModel, AddTokenizer, ReadGeneration>(),
                                FilesOf<EncoderDecoder, DescribeEncoderDecoder, ReadTranslation>(),
                                FilesOf<DualEncoder, DescribeDualEncoder, ReadImages>(),
                                FilesOf<CaptionModel, AddTokenizer, ReadImages>(),
                                FilesOf<RegionTextEncoder, AddTokenizer, ReadImages>()};

const KindFiles* KindOf(const ModelFolder& files) {
  const auto kind = std::ranges::find(kKinds, FamilyOf(files).kind, &KindFiles::kind);
  return kind == std::end(kKinds) ? nullptr : kind;
}

}  // namespace

Json::Object DescribeFolder(const std::string& folder, const ModelFolder& files, const Model& model) {
  Json::Object description = model.Description();
  if (const KindFiles* const kind = KindOf(files)) kind->describe(folder, model, description);
  return description;
}

std::vector<std::string> UnsupportedSettings(const ModelFolder& files, const Model& model) {
  const KindFiles* const kind = KindOf(files);
  try {
    (kind == nullptr ? ReadImages : kind->read_settings)(files, model);
  } catch (const Error& error) {
    return {error.what()};
  }
  return {};
}

}  // namespace headlight
