#include "headlight/text/tokenizers/tokenizer_families.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

using enum TokenizerFamily;
using Table = std::unordered_map<std::string_view, TokenizerFamily>;

// Class names without the suffix "Tokenizer" or "TokenizerFast". Classes with rules that are implemented in code, such
// as BertJapanese (MeCab) or RoFormer (jieba), are not included.
const Table& Classes() {
  static const Table classes = {
      {"Bart", roberta},
      {"Bert", bert},
      {"CLIP", clip},
      {"CodeGen", gpt2},
      {"ConvBert", bert},
      {"DPRContextEncoder", bert},
      {"DPRQuestionEncoder", bert},
      {"DPRReader", bert},
      {"DalleBart", roberta},  // of DALL-E mini
      {"Deberta", deberta},
      {"DebertaV2", deberta_v2},
      {"DistilBert", bert},
      {"Electra", bert},
      {"Esm", esm},
      {"GPT2", gpt2},
      {"LED", roberta},
      {"LayoutLM", bert},
      {"Llama", llama},
      {"Longformer", roberta},
      {"Lxmert", bert},
      {"MBart", mbart},
      {"MBart50", mbart50},
      {"MT5", t5},
      {"Marian", marian},
      {"MobileBert", bert},
      {"Mvp", roberta},
      {"OpenAIGPT", gpt1},
      {"Realm", bert},
      {"RetriBert", bert},
      {"Roberta", roberta},
      {"Siglip", siglip},
      {"SqueezeBert", bert},
      {"T5", t5},
      {"XLMRoberta", xlm_roberta},
  };
  return classes;
}

constexpr std::array kPipelines = {
    "Albert",     "Barthez",    "BigBird",   "Blenderbot", "BlenderbotSmall", "Bloom",    "Camembert", "CodeLlama",
    "Cohere",     "Esmc",       "FNet",      "Funnel",     "GPTNeoX",         "Gemma",    "Herbert",   "Lasr",
    "LayoutLMv2", "LayoutLMv3", "LayoutXLM", "Luke",       "MLuke",           "MPNet",    "MarkupLM",  "Nllb",
    "Nougat",     "Parakeet",   "Pegasus",   "Qwen2",      "Qwen3_5",         "Reformer", "RemBert",   "SeamlessM4T",
    "Siglip2",    "Splinter",   "Tipsv2",    "Udop",       "VideoPrism",      "Whisper",  "XGLM",      "XLNet"};

// Generic classes, which do not determine the family.
constexpr std::array kAny = {"PreTrainedTokenizer", "PreTrainedTokenizerFast", "PythonBackend", "TokenizersBackend"};

// Classes without their own code, and classes that Transformers 5.24 does not have.
constexpr std::array kWithoutCode = {"Bloom", "ConvBert", "FNet", "MT5", "Parakeet", "Realm", "RetriBert"};

// Model types whose vocabularies belong to these families, and other model types that have files with the same names.
const Table& ModelTypes() {
  static const Table types = {
      {"align", bert},
      {"bart", roberta},
      {"bert", bert},
      {"blip", bert},
      {"blip_text_model", bert},
      {"bridgetower", roberta},
      {"chinese_clip", bert},
      {"clip", clip},
      {"clip_text_model", clip},
      {"convbert", bert},
      {"cpmant", pipeline},
      {"dalle_mini", roberta},
      {"deberta", deberta},
      {"deberta-v2", deberta_v2},
      {"distilbert", bert},
      {"dpr", bert},
      {"electra", bert},
      {"ernie", bert},
      {"esm", esm},
      {"flava", bert},
      {"funnel", pipeline},
      {"git", bert},
      {"gpt2", gpt2},
      {"gpt_neo", gpt2},
      {"gptj", gpt2},
      {"layoutlm", bert},
      {"led", roberta},
      {"longformer", roberta},
      {"lxmert", bert},
      {"marian", marian},
      {"mbart", mbart},
      {"megatron-bert", bert},
      {"mobilebert", bert},
      {"mpnet", pipeline},
      {"mt5", t5},
      {"mvp", roberta},
      {"openai-gpt", gpt1},
      {"prophetnet", pipeline},
      {"roberta", roberta},
      {"roc_bert", pipeline},
      {"roformer", pipeline},
      {"siglip", siglip},
      {"siglip_text_model", siglip},
      {"splinter", pipeline},
      {"squeezebert", bert},
      {"t5", t5},
      {"tapas", pipeline},
      {"vilbert", bert},
      {"vilt", bert},
      {"visual_bert", bert},
      {"xlm-roberta", xlm_roberta},
  };
  return types;
}

bool SaysNothing(const std::string& tokenizer_class) { return std::ranges::find(kAny, tokenizer_class) != kAny.end(); }

// Returns the class name without the suffix "Tokenizer" or "TokenizerFast", or an empty text if it has neither suffix.
std::string_view StemOf(std::string_view tokenizer_class) {
  if (tokenizer_class.ends_with("Fast")) tokenizer_class.remove_suffix(std::string_view("Fast").size());
  constexpr std::string_view end = "Tokenizer";
  return tokenizer_class.ends_with(end) ? tokenizer_class.substr(0, tokenizer_class.size() - end.size())
                                        : std::string_view();
}

}  // namespace

bool UsesFileUnchanged(const std::string& tokenizer_class) {
  return SaysNothing(tokenizer_class) || std::ranges::find(kWithoutCode, StemOf(tokenizer_class)) != kWithoutCode.end();
}

TokenizerFamily FamilyOf(const std::string& tokenizer_class, const std::string& model_type,
                         const std::string& location) {
  if (tokenizer_class.empty() || SaysNothing(tokenizer_class)) {
    const auto found = ModelTypes().find(model_type);
    return found == ModelTypes().end() ? unknown : found->second;
  }
  const std::string_view stem = StemOf(tokenizer_class);
  if (const auto found = Classes().find(stem); found != Classes().end()) return found->second;
  if (std::ranges::find(kPipelines, stem) != kPipelines.end()) return pipeline;
  Fail(
      "{}: tokenizer_class {} is not supported; those of BERT, CLIP, DeBERTa, ESM, GPT, GPT-2, MarianMT, mBART, "
      "RoBERTa, SigLIP, T5 and XLM-RoBERTa are, and those that Transformers builds from only a tokenizer.json",
      location, Quoted(tokenizer_class));
}

}  // namespace headlight
