// The kind of model that a folder or file holds.
#pragma once

#include <string>

#include "headlight/base/export.h"
#include "headlight/io/model_folder.h"

namespace headlight {

// As OpenModelFolder, but without the arrays of an .npz file, which take long to read. Throws Error likewise.
HEADLIGHT_API ModelFolder OpenModelDescription(const std::string& path);

}  // namespace headlight
