// The label names of text classification and token classification.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// The handling of unknown labels.
enum class NewLabels {
  added,    ///< adds a new label
  refused,  ///< throws Error
  /// Throws Error, unless the label is the index of a class and no class has an integer as its name. Datasets for
  /// Transformers often have indices although the model's config.json has names.
  refused_but_numbers,
};

/// Returns the index of a label. Throws Error, with a message that begins with `location`, if the label is refused, or
/// if a new label is empty or has control characters.
HEADLIGHT_API std::int32_t NumberOfLabel(std::string_view label, std::vector<std::string>& labels, NewLabels rule,
                                         const std::string& location);

/// Sorts labels as Transformers' example scripts do: by value if all are integers, otherwise by their bytes. Returns
/// the new index of each old label.
HEADLIGHT_API std::vector<std::int32_t> SortLabels(std::vector<std::string>& labels);

/// Replaces each label that is not negative by its new index.
void Renumber(const std::vector<std::int32_t>& numbers, std::vector<std::int32_t>& labels);

}  // namespace headlight
