// What the folders of the GPTs have in common.
#pragma once

#include <cstdint>
#include <string_view>

#include "headlight/base/json.h"

namespace headlight {

// eos_token_id, a number or several, of which the first counts here (generation_config.json is for the others); -1
// where it is no word of the vocabulary.
std::int32_t ReadEndId(const JsonView& config, std::int32_t fallback, std::int64_t vocabulary);
Json EndIdJson(std::int32_t end_id);  // null where there is none

// RefuseUnreadSettings, but for what the GPTs write besides: of a head for choices between texts, and how attention is
// computed in less than float32.
void RefuseUnreadLanguageModelSettings(const JsonView& config);

// Whether it is a layer's mask of what comes later, as checkpoints hold it and nobody needs it.
bool IsCausalMask(std::string_view name);

}  // namespace headlight
