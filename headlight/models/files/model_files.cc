#include "headlight/models/files/model_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight {
namespace {

// Of folders whose matrices of products are stored in 8 or 4 bits a number; Transformers refuses it by this name.
constexpr const char* kQuantization = "headlight";

// How a model was trained and initialised, what its classes are called, how Transformers generates from it, and what it
// writes for every model.
constexpr std::string_view kHarmless[] = {
    "_name_or_path",
    "_num_labels",
    "architectures",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "chunk_size_feed_forward",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "gradient_checkpointing",
    "id2label",
    "init_std",
    "initializer_range",
    "is_encoder_decoder",
    "label2id",
    "language",
    "length_penalty",
    "max_length",
    "min_length",
    "name",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_labels",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_scores",
    "pad_token_id",
    "prefix",
    "problem_type",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "typical_p",
    "use_bfloat16",
    "use_cache",
};

// What the folder's matrices of products are stored as.
Compute StoredCompute(const JsonView& config) {
  const JsonView quantization = config["quantization_config"];
  if (!quantization.present()) return Compute::float32;
  quantization["quant_method"].String({kQuantization});
  const std::int64_t bits = quantization["bits"].Integer(4, 8);
  Check(bits == 4 || bits == 8, "{}: {} bits, where 4 and 8 are known", quantization["bits"].place(), bits);
  return bits == 4 ? Compute::int4 : Compute::int8;
}

}  // namespace

void RefuseUnreadSettings(const JsonView& config, std::initializer_list<std::string_view> harmless) {
  StoredCompute(config);
  std::vector<std::string_view> all(std::begin(kHarmless), std::end(kHarmless));
  all.insert(all.end(), harmless.begin(), harmless.end());
  config.RefuseUnread(all);
}

void LoadWeights(const ModelFolder& files, const LoadModelOptions& options, Parameters& parameters,
                 const std::function<bool(std::string_view name)>& harmless) {
  const bool only_computes = options.purpose != LoadFor::everything;
  const Compute compute = options.compute.value_or(only_computes ? StoredCompute(files.config) : Compute::float32);
  Check(options.purpose != LoadFor::computing_with_draft || !IsQuantized(compute),
        "{}: words are drafted in int8 for a model that computes in float32 or bfloat16, not in {}",
        files.weights.path(), Name(compute));
  parameters.SetCompute(compute);
  LoadParameters(parameters, files.weights, harmless, options.purpose);
}

bool SameAsTied(const Safetensors& file, std::string_view name, std::string_view tied) {
  if (!file.contains(tied)) return false;
  Check(std::ranges::equal(file.At(name).bytes, file.At(tied).bytes),
        "{}: tensor {} differs from {}, to which the configuration ties it", file.path(), name, tied);
  return true;
}

void SaveConfigAndWeights(const std::string& folder, Json config, const Parameters& parameters, Compute compute,
                          std::vector<StoredTensor> more) {
  if (IsQuantized(compute))
    config.Set("quantization_config",
               Json::Object{{"quant_method", kQuantization}, {"bits", compute == Compute::int4 ? 4 : 8}});
  WriteFile(folder + "/config.json", config.Text());
  SaveParameters(parameters, folder + "/model.safetensors", std::move(more), compute);
}

}  // namespace headlight
