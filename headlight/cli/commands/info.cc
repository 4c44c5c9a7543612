// headlight info: what a model folder holds.
#include <algorithm>
#include <initializer_list>
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
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/models/transformer.h"
#include "headlight/pipelines/sentence_modules.h"
#include "headlight/text/printable.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::info {
namespace {

struct Options {
  std::string folder;
  bool json = false;
};

const char* Name(SubwordAlgorithm algorithm) { return algorithm == SubwordAlgorithm::bpe ? "BPE" : "unigram"; }

std::int64_t Bytes(const Parameters& parameters) {
  std::int64_t bytes = 0;
  for (const Parameter& parameter : parameters.all())
    bytes += parameter.value.elements() * SizeOf(DType::float32) + static_cast<std::int64_t>(parameter.packed.bytes());
  return bytes;
}

// The sizes of every family, by the keys under which config.json has them.
struct Size {
  const char* name;
  std::initializer_list<const char*> keys;
};
const Size kSizes[] = {
    {"layers", {"l_layers", "num_hidden_layers", "n_layers", "n_layer"}},  // of one stack; T5's and GPT-Neo's: below
    {"encoder_layers", {"encoder_layers"}},
    {"decoder_layers", {"decoder_layers", "num_decoder_layers"}},
    {"model", {"d_model", "hidden_size", "dim", "n_embd"}},
    {"attention_heads", {"num_attention_heads", "n_heads", "n_head", "num_heads"}},
    {"encoder_heads", {"encoder_attention_heads"}},
    {"decoder_heads", {"decoder_attention_heads"}},
    {"head_dim", {"d_kv"}},
    {"ffn", {"intermediate_size", "hidden_dim", "d_ff", "n_inner"}},
    {"encoder_ffn", {"encoder_ffn_dim"}},
    {"decoder_ffn", {"decoder_ffn_dim"}},
    {"token_types", {"type_vocab_size"}}};

void AddMissing(Json::Object& description, const char* name, Json value) {
  if (std::ranges::find(description, name, &Json::Member::name) == description.end())
    description.push_back({name, std::move(value)});
}

void AddSizes(const JsonView& config, Json::Object& description) {
  const bool two_stacks = config.Get("is_encoder_decoder", false).Bool();
  for (const Size& size : kSizes)
    for (const char* key : size.keys) {
      const JsonView value = config[key];
      const bool of_both = two_stacks && std::string_view(size.name) == "layers";  // BART's note for others
      if (value.present() && !of_both) AddMissing(description, size.name, value.value());
    }
  if (const JsonView layers = config["num_layers"]; layers.present()) {
    AddMissing(description, two_stacks ? "encoder_layers" : "layers", layers.value());
    if (two_stacks) AddMissing(description, "decoder_layers", layers.value());
  }
  // GPT's, which its configurations leave out.
  if (const JsonView model = config.Get("n_embd", config["hidden_size"].value()); model.present() && !two_stacks)
    AddMissing(description, "ffn", 4 * model.Integer());
}

// Of a ViLBERT's or LXMERT's second stream, and of what the two have in common.
void AddImageSizes(const JsonView& config, Json::Object& description) {
  for (const auto& [name, key] :
       {std::pair("image_layers", "v_num_hidden_layers"), std::pair("image_model", "v_hidden_size"),
        std::pair("image_heads", "v_num_attention_heads"), std::pair("image_ffn", "v_intermediate_size"),
        std::pair("joint_model", "bi_hidden_size"), std::pair("joint_heads", "bi_num_attention_heads"),
        std::pair("image_layers", "r_layers"), std::pair("joint_layers", "x_layers")})
    if (const JsonView value = config[key]; value.present()) AddMissing(description, name, value.value());
}

// Of a model of images and texts, whose configuration has one for each.
void AddPartSizes(const JsonView& config, Json::Object& description) {
  for (const auto& [part, keys] : {std::pair("image", std::pair("encoder", "vision_config")),
                                   std::pair("text", std::pair("decoder", "text_config"))}) {
    const JsonView given = config[keys.first].present() ? config[keys.first] : config[keys.second];
    if (!given.present()) continue;
    Json::Object sizes;
    AddSizes(given, sizes);
    for (Json::Member& size : sizes) {
      const std::string name = size.name == "attention_heads" ? "heads" : size.name;
      AddMissing(description, fmt::format("{}_{}", part, name).c_str(), std::move(size.value));
    }
  }
}

// Of an encoder of texts: its classes, and how it makes one vector of a text.
void AddUses(const std::string& folder, const TextEncoder& encoder, Json::Object& description) {
  const TextHeadsConfig& heads = encoder.heads();
  if (!heads.labels.empty()) description.push_back({"labels", heads.labels});
  const SentenceModules modules = ReadSentenceModules(folder, encoder.limits().model);
  std::int64_t longest = encoder.limits().positions;
  if (modules.given) {
    description.push_back({"pooling", Names(modules.poolings)});
    description.push_back({"normalized", modules.normalizes()});
    if (const std::int64_t dimension = modules.Dimension(encoder.limits().model); dimension != encoder.limits().model)
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
}

// Of a generator of images: its colours, and its classes.
void AddUses(const ImageGpt& images, Json::Object& description) {
  description.push_back({"vocabulary", images.limits().vocabulary});
  description.push_back({"colours", images.config().start_id()});
  if (images.config().classes) description.push_back({"labels", images.config().labels});
}

// How many tensors of which type the files hold, and their bytes.
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

Json::Object Describe(const std::string& folder, const ModelFolder& files, const Model* model) {
  const Parameters& parameters = model->parameters();
  Json::Object description = {{"family", files.config["model_type"].String()},
                              {"parameters", parameters.count()},
                              {"compute", Name(parameters.all().front().compute)},
                              {"memory_bytes", Bytes(parameters)},
                              {"stored", Stored(files.weights)}};
  for (Json::Member& member : model->Description()) description.push_back(std::move(member));
  AddSizes(files.config, description);
  if (dynamic_cast<const CaptionModel*>(model) != nullptr || dynamic_cast<const DualEncoder*>(model) != nullptr)
    AddPartSizes(files.config, description);
  if (const auto* encoder = dynamic_cast<const TextEncoder*>(model)) AddUses(folder, *encoder, description);
  if (dynamic_cast<const RegionTextEncoder*>(model) != nullptr) AddImageSizes(files.config, description);
  if (const auto* images = dynamic_cast<const ImageGpt*>(model)) {
    AddUses(*images, description);
    return description;
  }
  if (const auto* dual = dynamic_cast<const DualEncoder*>(model)) {
    if (dual->limits().has_texts()) description.push_back({"vocabulary", PipelineTokenizer::Load(folder).size()});
    return description;
  }
  if (dynamic_cast<const ImageEncoder*>(model) != nullptr || dynamic_cast<const DetectionModel*>(model) != nullptr ||
      dynamic_cast<const FoldingModel*>(model) != nullptr || dynamic_cast<const ImageCoder*>(model) != nullptr)
    return description;
  if (dynamic_cast<const Transformer*>(model) == nullptr) {
    description.push_back({"vocabulary", PipelineTokenizer::Load(folder).size()});
    return description;
  }
  const MarianTokenizer tokenizer = MarianTokenizer::Load(folder);
  description.push_back({"vocabulary", tokenizer.size()});
  description.push_back({"source_tokenizer", Name(tokenizer.algorithm(Side::source))});
  description.push_back({"target_tokenizer", Name(tokenizer.algorithm(Side::target))});
  return description;
}

void Run(const Options& options) {
  const ReadRecord record;
  const ModelFolder files = OpenModelFolder(options.folder);
  const std::unique_ptr<Model> model = LoadFamily(FamilyOf(files), files, {.purpose = LoadFor::computing});
  Json::Object description = Describe(options.folder, files, model.get());
  const std::vector<std::string> errors = ReadOtherSettings(files, *model);
  if (!errors.empty()) description.push_back({"not_supported", errors});
  if (!IsNpz(options.folder)) AddFiles(options.folder, record, files, description);
  if (options.json) return WriteResult(Json(std::move(description)).Line() + "\n");
  for (const Json::Member& member : description) {
    const auto* text = member.value.As<std::string>();
    const bool are_files = member.name == "read" || member.name == "ignored";
    if (!are_files) {
      WriteResult(fmt::format("{:17} {}\n", member.name, text != nullptr ? *text : member.value.Line()));
      continue;
    }
    for (const Json& file : *member.value.As<Json::Array>())
      WriteResult(fmt::format("{:17} {}\n", member.name, InRow(FileRow(file))));
  }
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "info", "Describe a model folder: family, sizes, memory, tokenizer", Run);
  AddModel(command, options.folder, "The model's folder, or an .npz file of AlphaFold 2");
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nmemory_bytes is the memory of the weights when the model is loaded, and stored the size of the weights' "
      "files,\n"
      "by type. positions is the longest input in tokens, and longest_text that of embed. Sizes that config.json\n"
      "leaves out are not listed. read names the files and settings that commands read, and ignored the others, each "
      "with\n"
      "the reason.\n\n"
      "Example:\n  headlight info model --json";
}

}  // namespace headlight::info
