// Declares the table from which the data of protein/residues.h is generated.
#pragma once

#include <string_view>

namespace headlight {

/// A text with one item per line. The first word of a line is the kind of item, as described in residue_table.cc.
extern const std::string_view kResidueTable;

}  // namespace headlight
