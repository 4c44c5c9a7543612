#include "headlight/io/config_table.h"

#include <fmt/ranges.h>

#include "headlight/io/transformers_config_keys.h"

namespace headlight {
namespace {

// Ignored keys, which do not change a forward pass. Some keys concern training, initialization, labels or generation.
// Transformers writes some keys for every model. Others belong to other programs: the Hub's custom code (auto_map),
// Unsloth, AdapterHub, Transformers.js, sentence-transformers' CrossEncoder, AWS Neuron.
constexpr std::string_view kHarmless =
    "_attn_implementation _attn_implementation_autoset _commit_hash _name_or_path _num_labels adapters "
    "architectures assistant_confidence_threshold assistant_early_exit assistant_ensemble_weight "
    "assistant_lookbehind attn_implementation auto_map bad_words_ids begin_suppress_tokens bos_token_id "
    "cache_config cache_implementation chunk_size_feed_forward cls_token_id compile_config constraints "
    "continuous_batching_config custom_pipelines decoder_start_token_id disable_compile diversity_penalty do_sample "
    "dola_layers dtype early_stopping encoder_no_repeat_ngram_size encoder_repetition_penalty eos_token_id "
    "eos_token_ids epsilon_cutoff eta_cutoff exponential_decay_length_penalty finetuning_task force_words_ids "
    "forced_bos_token_id forced_decoder_ids forced_eos_token_id gradient_checkpointing guidance_scale id2label "
    "init_std initializer_range is_assistant is_encoder_decoder label2id language length_penalty low_memory "
    "mask_token_id max_cache_len max_length max_matching_ngram_size max_new_tokens max_time min_length "
    "min_new_tokens min_p model_max_length name neuron no_repeat_ngram_size num_assistant_tokens "
    "num_assistant_tokens_schedule num_beam_groups num_beams num_labels num_return_sequences output_attentions "
    "output_hidden_states output_logits output_past output_scores pad_token_id pad_token_ids penalty_alpha "
    "prefill_chunk_size prefix problem_type prompt_lookup_num_tokens quantization_config remove_invalid_values "
    "renormalize_logits repetition_penalty return_dict return_dict_in_generate sbert_ce_default_activation_function "
    "sentence_transformers sep_token_id sequence_bias speculation_type stop_strings suppress_tokens "
    "target_lookbehind task_specific_params temperature tf_legacy_loss token_healing tokenizer_class top_h top_k "
    "top_p torch_dtype torchscript transformers.js_config transformers_version typical_p unk_token_id unsloth_fixed "
    "unsloth_version use_bfloat16 use_cache use_mtp use_return_dict watermarking_config xla_device";

// Returns the space-separated words of a text.
std::set<std::string_view> Words(std::string_view text) {
  std::set<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    words.insert(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

const std::set<std::string_view>& HarmlessKeys() {
  static const std::set<std::string_view> keys = Words(kHarmless);
  return keys;
}

bool IsKnownToTransformers(std::string_view key) {
  static const std::set<std::string_view> keys = Words(kTransformersConfigKeys);
  return keys.contains(key);
}

}  // namespace

ConfigTable::ConfigTable(Pass pass, std::string_view source)
    : pass_(pass), json_(Json::Object{}, ""), source_(source.empty() ? "" : std::string(source) + ": ") {}

JsonView ConfigTable::Given(std::string_view key, Json fallback) const {
  return required_.contains(key) ? json_[key] : json_.Get(key, std::move(fallback));
}

std::int64_t ConfigTable::IntegerField(std::string_view key, std::int64_t value, std::string_view name,
                                       std::int64_t least, std::int64_t most) {
  if (reads()) return Given(key, value).Integer(least, most);
  if (writes()) Note(key, value);
  Rule(value >= least && value <= most, "{} must be from {} to {}, not {}", name, least, most, value);
  return value;
}

void ConfigTable::Heads(std::string_view key, std::int32_t& value, std::int64_t model, std::string_view name) {
  Size(key, value, name);
  Rule(model % std::max(1, value) == 0, "{} must divide the model dimension: {} does not divide {}", name, value,
       model);
}

void ConfigTable::Integers(std::string_view key, std::vector<std::int64_t>& values, std::int64_t most) {
  constexpr std::int64_t most_values = 16;
  if (writes()) return Note(key, Json::Array(values.begin(), values.end()));
  if (!reads() || !json_[key].present()) return;
  const JsonView given = json_[key];
  const std::vector<JsonView> items = given.Items();
  Check(!items.empty() && std::ssize(items) <= most_values, "{}: {} values; 1 to {} are allowed", given.location(),
        items.size(), most_values);
  values.clear();
  for (const JsonView& item : items) values.push_back(item.Integer(1, most));
}

void ConfigTable::Token(std::string_view key, std::int32_t& id, std::int64_t vocabulary) {
  if (reads()) {
    const JsonView given = Given(key, id);
    // Only this key may be a list. The first entry is the model's end token. The generation settings use all entries.
    const bool several = key == "eos_token_id" && given.value().As<Json::Array>() != nullptr && !given.Items().empty();
    id = static_cast<std::int32_t>((several ? given.Items().front() : given).Integer(0, kLargestSize));
  }
  if (writes()) Note(key, id);
  Rule(id >= 0 && id < vocabulary, "{}: {} is outside the vocabulary of {}", key, id, vocabulary);
}

void ConfigTable::Flag(std::string_view key, bool& value) {
  if (reads()) value = Given(key, value).Bool();
  if (writes()) Note(key, value);
}

void ConfigTable::Probability(std::string_view key, double& value) {
  if (pass_ == Pass::set_dropout) {
    const bool attention = key.find("att") != key.npos;  // such as attention_dropout and attn_pdrop
    has_attention_dropout_ = has_attention_dropout_ || attention;
    value = attention && dropout_.attention ? *dropout_.attention : dropout_.all.value_or(value);
  }
  if (reads()) value = Given(key, value).Number(0, 1);
  if (writes()) Note(key, value);
  Rule(value >= 0 && value < 1, "{} must be at least 0 and below 1, not {}", key, value);
}

void ConfigTable::Probability(std::string_view key, std::optional<double>& value) {
  double number = value.value_or(0);
  if (reads() ? Given(key, Json()).present() : value.has_value()) {
    Probability(key, number);
    value = number;
  }
}

void ConfigTable::Epsilon(std::string_view key, double& value) {
  if (reads()) value = Given(key, value).Number(0, 1);
  if (writes()) Note(key, value);
  Rule(value > 0 && value < 1, "a norm's epsilon must be between 0 and 1, not {}", value);
}

void ConfigTable::Number(std::string_view key, double& value, double least, double most) {
  if (reads()) value = Given(key, value).Number(least, most);
  if (writes()) Note(key, value);
  Rule(value >= least && value <= most, "{} must be from {} to {}, not {}", key, least, most, value);
}

void ConfigTable::Only(std::string_view key, const Json& value, std::string_view why) {
  if (!reads()) return;
  const JsonView given = Given(key, value);
  if (why.empty())
    Check(given.value() == value, "{}: only {} is supported, not {}", given.location(), value.Line(),
          given.value().Line());
  else
    Check(given.value() == value, "{}: {} is not supported", given.location(), why);
}

void ConfigTable::Note(std::string_view key, Json value) {
  if (writes()) written_.Set(key, std::move(value));
  harmless_.push_back(key);
}

void ConfigTable::RefuseName(const JsonView& given, const std::vector<std::string_view>& names) {
  Fail("{}: expected one of '{}', got {}", given.location(), fmt::join(names, "', '"), Quoted(given.String()));
}

void ConfigTable::RefuseUnread() const {
  std::vector<std::string_view> harmless = harmless_;
  harmless.insert(harmless.end(), HarmlessKeys().begin(), HarmlessKeys().end());
  // Keys of older files, each with its only supported value. Any other value would define a different model.
  const std::pair<std::string_view, Json> usual_values[] = {{"add_cross_attention", false},
                                                            {"is_decoder", false},
                                                            {"pruned_heads", Json::Object{}},
                                                            {"tie_encoder_decoder", false}};
  for (const auto& [key, usual] : usual_values)
    if (const Json* const given = json_.value().Find(key); given != nullptr && *given == usual) harmless.push_back(key);
  const std::vector<std::string> unread = json_.Unread();
  for (const std::string& key : unread)
    if (!refuses_unknown_ && !IsKnownToTransformers(key)) harmless.push_back(key);
  json_.RefuseUnread(harmless);
}

std::string_view ReasonToIgnoreKey(std::string_view key) {
  return HarmlessKeys().contains(key) ? "does not change the model's outputs"
         : IsKnownToTransformers(key) ? "changes nothing in this family"
                                      : "is not a key that headlight or Transformers reads";
}

}  // namespace headlight
