#include "headlight/text/tokenizers/fast_tokenizer_config.h"

#include <array>
#include <filesystem>
#include <utility>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/tokenizer_json.h"

namespace headlight {
namespace {

constexpr const char* kClass = "PreTrainedTokenizerFast";

// The usual tokens of each role, in order of preference.
constexpr std::pair<const char*, std::array<const char*, 3>> kTokensOfRoles[] = {
    {"bos_token", {"<s>", "<|endoftext|>"}}, {"eos_token", {"</s>", "<|endoftext|>", "<eos>"}},
    {"unk_token", {"<unk>", "[UNK]"}},       {"pad_token", {"<pad>", "[PAD]"}},
    {"mask_token", {"<mask>", "[MASK]"}},    {"cls_token", {"[CLS]", "<s>", "<cls>"}},
    {"sep_token", {"[SEP]", "</s>"}}};

Json NewConfig(const PipelineTokenizer& tokenizer) {
  Json config = Json::Object{{"tokenizer_class", kClass}, {"clean_up_tokenization_spaces", false}};
  for (const auto& [role, tokens] : kTokensOfRoles)
    for (const char* token : tokens)
      if (token != nullptr && tokenizer.FindSpecial(token)) {
        config.Set(role, token);
        break;
      }
  return config;
}

}  // namespace

void WriteFastTokenizerConfig(const std::string& folder, const std::optional<TokenizerOfModel>& model) {
  if (!Exists(folder + "/tokenizer.json")) return;
  const std::string path = folder + "/tokenizer_config.json";
  Json config;
  if (Exists(path)) {
    const JsonView file = ReadJson(path);
    if (file.Get("tokenizer_class", "").String() != kClass) return;
    config = file.value();
  } else {
    config = NewConfig(PipelineTokenizer::Load(folder));
  }
  if (model) {
    if (model->longest) config.Set("model_max_length", *model->longest);
    config.Set("padding_side", model->pads_left ? "left" : "right");
    config.Set("model_input_names", model->reads_types ? Json::Array{"input_ids", "token_type_ids", "attention_mask"}
                                                       : Json::Array{"input_ids", "attention_mask"});
  }
  WriteFile(path, config.Text());
}

}  // namespace headlight
