// The files of a model's folder that are read, and the reasons why others are not, for `headlight info`.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/base/read_record.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/model.h"

namespace headlight {

/// Reads the settings that commands need besides the model and its tokenizer: of generation and of the preparation of
/// images. Returns the errors of settings that are not supported, with which such commands fail.
std::vector<std::string> ReadOtherSettings(const ModelFolder& files, const Model& model);

/// Adds "read" and "ignored", lists of objects: {"file", "settings"} and {"file", "settings" or "tensors", "reason"}.
void AddFiles(const std::string& folder, const ReadRecord& record, const ModelFolder& files, Json::Object& description);

/// A row of text for such an object.
std::string FileRow(const Json& file);

}  // namespace headlight
