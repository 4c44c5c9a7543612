// The classes of a model that classifies, as config.json has them.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/json.h"

namespace headlight {

// The classes' names by number: id2label, or LABEL_0, LABEL_1, ... where it is missing, num_labels of them. Throws
// Error where they are not those of the classes 0, 1, ...
std::vector<std::string> ReadLabels(const JsonView& config);
// id2label and label2id; nothing where there are none.
void WriteLabels(Json& config, const std::vector<std::string>& labels);
// Throws Error where there are none or too many, or two have the same name.
void CheckLabels(const std::vector<std::string>& labels);

}  // namespace headlight
