// Which files of a model's folder are read, and why others are ignored, for `headlight info`.
#pragma once

#include <string>

#include "headlight/base/json.h"
#include "headlight/base/read_record.h"
#include "headlight/io/model_folder.h"

namespace headlight {

/// Adds "read" and "ignored": lists of {"file", "settings"} and of {"file", "settings" or "tensors", "reason"}.
void AddFiles(const std::string& folder, const ReadRecord& record, const ModelFolder& files, Json::Object& description);

/// Such an object as a row of text.
std::string FileRow(const Json& file);

}  // namespace headlight
