// The class names of texts and words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

/// How to treat a label that is not known.
enum class NewLabels {
  added,    // it becomes a new label
  refused,  // throws Error
  /// Throws Error, unless it is the index of a class and no class has an integer as its name: datasets for Transformers
  /// often have indices when the model's config.json has names.
  refused_but_numbers,
};

/// The index of a label. Throws Error that begins with `location` if it is refused, and for a new one that is empty or
/// has control characters.
HEADLIGHT_API std::int32_t NumberOfLabel(std::string_view label, std::vector<std::string>& labels, NewLabels rule,
                                         const std::string& location);

/// Sorts labels like Transformers' example scripts: by value if all are integers, otherwise by their bytes. Returns the
/// new index of each old one.
HEADLIGHT_API std::vector<std::int32_t> SortLabels(std::vector<std::string>& labels);

/// Replaces each label that is not negative by its new index.
void Renumber(const std::vector<std::int32_t>& numbers, std::vector<std::int32_t>& labels);

}  // namespace headlight
