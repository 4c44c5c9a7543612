// Class labels of a classifier in config.json.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/json.h"

namespace headlight {

/// Returns the class labels by index. They are id2label, or LABEL_0, LABEL_1, ... up to num_labels if id2label is
/// missing. Throws Error if the labels are not numbered 0, 1, ...
std::vector<std::string> ReadLabels(const JsonView& config);
/// Writes id2label and label2id. Writes nothing if there are no labels.
void WriteLabels(Json& config, const std::vector<std::string>& labels);
/// Throws Error if there are no labels, too many labels, or two equal labels.
void CheckLabels(const std::vector<std::string>& labels);

}  // namespace headlight
