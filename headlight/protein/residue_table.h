// The table that protein/residues.h is made of.
#pragma once

#include <string_view>

namespace headlight {

// One item a line, each line beginning with a word that says what it has: see the table.
extern const std::string_view kResidueTable;

}  // namespace headlight
