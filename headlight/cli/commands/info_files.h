// Lists the files of a model's folder that are read, and the reasons why other files are ignored, for `headlight info`.
#pragma once

#include <string>

#include "headlight/base/json.h"
#include "headlight/base/read_record.h"
#include "headlight/io/model_folder.h"

namespace headlight {

/// Adds "read", a list of {"file", "settings"}, and "ignored", a list of {"file", "settings" or "tensors", "reason"}.
void AddFiles(const std::string& folder, const ReadRecord& record, const ModelFolder& files, Json::Object& description);

/// Formats an entry of "read" or "ignored" as a row of text.
std::string FileRow(const Json& file);

}  // namespace headlight
