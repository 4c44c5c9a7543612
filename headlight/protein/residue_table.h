// The table from which protein/residues.h is generated.
#pragma once

#include <string_view>

namespace headlight {

/// One item per line. Its first word names the kind of item: see the table.
extern const std::string_view kResidueTable;

}  // namespace headlight
