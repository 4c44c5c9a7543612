#include "headlight/models/files/language_model_files.h"

#include "headlight/models/files/config_rules.h"
#include "headlight/models/files/model_files.h"

namespace headlight {

std::int32_t ReadEndId(const JsonView& config, std::int32_t fallback, std::int64_t vocabulary) {
  const Json* const given = config.value().Find("eos_token_id");
  if (given != nullptr && given->is_null()) return -1;
  const JsonView ids = config.Get("eos_token_id", fallback);
  const JsonView id = ids.value().As<Json::Array>() != nullptr && !ids.Items().empty() ? ids.Items().front() : ids;
  const std::int64_t end = id.Integer(-1, kMostOfASize);
  return end < vocabulary ? static_cast<std::int32_t>(end) : -1;
}

Json EndIdJson(std::int32_t end_id) { return end_id < 0 ? Json() : Json(end_id); }

void RefuseUnreadLanguageModelSettings(const JsonView& config) {
  RefuseUnreadSettings(config, {"classifier_dropout", "n_ctx", "n_special", "predict_special_tokens",
                                "reorder_and_upcast_attn", "summary_activation", "summary_first_dropout",
                                "summary_proj_to_labels", "summary_type", "summary_use_proj"});
}

bool IsCausalMask(std::string_view name) {
  const std::size_t layer = name.starts_with("transformer.h.") ? 14 : name.starts_with("h.") ? 2 : name.size();
  const std::size_t after = name.find_first_not_of("0123456789", layer);
  if (layer >= name.size() || after == std::string_view::npos || after == layer) return false;
  const std::string_view rest = name.substr(after);
  return rest == ".attn.bias" || rest == ".attn.masked_bias" || rest == ".attn.attention.bias" ||
         rest == ".attn.attention.masked_bias";
}

}  // namespace headlight
