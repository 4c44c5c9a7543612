// Optional token ids of a configuration.
#pragma once

#include <cstdint>

#include "headlight/io/config_table.h"

namespace headlight {

/// The token id under the key. If there are several, the first one; generation_config.json has the others. -1 if it is
/// null or outside the vocabulary.
inline std::int32_t ReadTokenId(const JsonView& config, std::string_view key, std::int32_t fallback,
                                std::int64_t vocabulary) {
  const Json* const given = config.value().Find(key);
  if (given != nullptr && given->is_null()) return -1;
  const JsonView ids = config.Get(key, fallback);
  const JsonView id = ids.value().As<Json::Array>() != nullptr && !ids.Items().empty() ? ids.Items().front() : ids;
  const std::int64_t token = id.Integer(-1, kLargestSize);
  return token < vocabulary ? static_cast<std::int32_t>(token) : -1;
}

/// The id, with -1 as null.
inline Json WriteTokenId(std::int32_t id) { return id < 0 ? Json() : Json(id); }

}  // namespace headlight
