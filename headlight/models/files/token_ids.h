// Functions that read and write optional token ids of a configuration.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "headlight/io/config_table.h"

namespace headlight {

/// Returns the token ids under the key, which may be one number or a list. Ids outside the vocabulary are omitted. null
/// means no tokens, and a missing key means `fallback`.
inline std::vector<std::int32_t> ReadTokens(const JsonView& config, std::string_view key, std::int32_t fallback,
                                            std::int64_t vocabulary) {
  const Json* const given = config.value().Find(key);
  if (given != nullptr && given->is_null()) return {};
  const JsonView ids = config.Get(key, fallback);
  const bool several = ids.value().As<Json::Array>() != nullptr && !ids.Items().empty();
  std::vector<std::int32_t> tokens;
  for (const JsonView& id : several ? ids.Items() : std::vector{ids})
    if (const std::int64_t token = id.Integer(-1, kLargestSize); token >= 0 && token < vocabulary)
      tokens.push_back(static_cast<std::int32_t>(token));
  return tokens;
}

/// Returns the first token id under the key, or -1 if there is none.
inline std::int32_t ReadTokenId(const JsonView& config, std::string_view key, std::int32_t fallback,
                                std::int64_t vocabulary) {
  const std::vector<std::int32_t> tokens = ReadTokens(config, key, fallback, vocabulary);
  return tokens.empty() ? -1 : tokens.front();
}

/// Returns the id as Json, or null if it is -1.
inline Json WriteTokenId(std::int32_t id) { return id < 0 ? Json() : Json(id); }

/// Describes eos_token_id. The first token is the config's end_id. The other tokens also end a generated text and are
/// the config's other_end_ids.
template <typename Config>
void DescribeEndTokens(ConfigTable& table, Config& config) {
  if (table.reads()) {
    config.other_end_ids = ReadTokens(table.json(), "eos_token_id", config.end_id, config.vocabulary);
    config.end_id = config.other_end_ids.empty() ? -1 : config.other_end_ids.front();
    if (!config.other_end_ids.empty()) config.other_end_ids.erase(config.other_end_ids.begin());
  }
  Json::Array all = {WriteTokenId(config.end_id)};
  for (const std::int32_t id : config.other_end_ids) all.push_back(id);
  table.Note("eos_token_id", all.size() == 1 ? all.front() : Json(all));
}

}  // namespace headlight
