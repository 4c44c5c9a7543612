// Searches alignments with HHblits or MMseqs2, which are not part of headlight.
#pragma once

#include <string>

namespace headlight {

// Throws Error unless `database` is one of mmseqs2 (PATH.dbtype) or of HHblits (PATH_cs219.ffindex), and the program
// `mmseqs` or `hhblits` is installed.
void CheckSearchDatabase(const std::string& database);

// Searches the database for homologs of the sequence, and writes their alignment to `path` as A3M, the sequence first.
//   HHblits   with the parameters of AlphaFold's data pipeline: 3 iterations, E-value 0.001
//   mmseqs2   3 iterations, sensitivity 8, E-value 0.1, at most 10,000 rows
// Throws Error with the last line that the program printed if it fails.
void SearchAlignment(const std::string& database, const std::string& letters, const std::string& path);

}  // namespace headlight
