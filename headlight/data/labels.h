// The names of the classes that texts and words are labelled with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

// How a label that is not among the known ones is read.
enum class NewLabels {
  added,    // it becomes one of them
  refused,  // an Error
  // An Error too, but for the number of a class where no class has an integer as its name: data sets of Transformers
  // often give numbers where the model's config.json has names.
  refused_but_numbers,
};

// The number of a label. Throws Error that begins with `place` where it is refused, and for a new one that is empty or
// has control characters.
HEADLIGHT_API std::int32_t NumberOfLabel(std::string_view label, std::vector<std::string>& labels, NewLabels rule,
                                         const std::string& place);

// Puts labels in order, as Transformers' example scripts number them: integers by value, where all are integers, else
// by their bytes. Returns the new number of each old one.
HEADLIGHT_API std::vector<std::int32_t> SortLabels(std::vector<std::string>& labels);

// Replaces each label that is not negative by its new number.
void Renumber(const std::vector<std::int32_t>& numbers, std::vector<std::int32_t>& labels);

}  // namespace headlight
