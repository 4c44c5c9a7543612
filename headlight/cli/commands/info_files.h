// The files of a model's folder that are read, and the reasons why others are not, for `headlight info`.
#pragma once

#include <string>

#include "headlight/base/json.h"
#include "headlight/base/read_record.h"
#include "headlight/io/model_folder.h"

namespace headlight {

/// Adds "read" and "ignored", lists of objects: {"file", "settings"} and {"file", "settings" or "tensors", "reason"}.
void AddFiles(const std::string& folder, const ReadRecord& record, const ModelFolder& files, Json::Object& description);

/// A row of text for such an object.
std::string FileRow(const Json& file);

}  // namespace headlight
