// Searches alignments with HHblits or MMseqs2, which must be installed separately.
#pragma once

#include <string>

namespace headlight {

// Throws Error unless `database` is an MMseqs2 database (PATH.dbtype) or an HHblits database (PATH_cs219.ffindex). Also
// throws Error if the program `mmseqs` or `hhblits` is not installed.
void CheckSearchDatabase(const std::string& database);

// Searches the database for homologs of the sequence. Writes their alignment to `path` as A3M, with the sequence first.
//   HHblits   parameters of AlphaFold's data pipeline: 3 iterations, E-value 0.001
//   mmseqs2   3 iterations, sensitivity 8, E-value 0.1, at most 10,000 rows
// If the program fails, throws Error with the last line that it printed.
void SearchAlignment(const std::string& database, const std::string& letters, const std::string& path);

}  // namespace headlight
