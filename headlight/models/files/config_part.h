// Nested configurations of families that consist of several models.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "headlight/io/config_table.h"

namespace headlight {

/// Reads or writes the nested configuration `key` with `describe`. If the configuration is missing, it is read as
/// empty. `key` must outlive the table.
inline void DescribePart(ConfigTable& table, std::string_view key,
                         const std::function<void(ConfigTable& part)>& describe) {
  if (table.reads()) {
    ConfigTable part(table.json().Get(key, Json::Object{}));
    describe(part);
    part.Harmless({"model_type"});  // Transformers writes it into every configuration
    part.RefuseUnknown();
    part.RefuseUnread();
  } else if (table.writes()) {
    ConfigTable part(ConfigTable::Pass::write);
    describe(part);
    table.Note(key, std::move(part).written());
  } else {
    describe(table);
  }
  table.Harmless({key});
}

}  // namespace headlight
