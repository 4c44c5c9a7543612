// Predicts the structures of queries, ranks them and writes files, for `headlight fold`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/cli/commands/shard.h"

namespace headlight {

struct FoldCommandOptions {
  std::vector<std::string> models;      // folders or .npz files
  std::string sequence;                 // sequence of a single query
  std::vector<std::string> alignments;  // alignments of a single query
  std::string database;                 // searched if there is no alignment
  std::vector<std::string> templates;   // structure files
  std::string template_alignment;       // alignment of the templates to the query; if empty, the sequences are aligned
  std::string file, alignment_folder;   // FASTA file of queries, and folder with their alignments NAME.a3m or NAME.sto
  Shard shard;
  std::string out;                 // file for one query, or folder for several
  std::string out_format = "cif";  // format of the files in a folder
  std::uint64_t seed = 1;
  std::int64_t num_seeds = 1;
  std::optional<int> recycles;
  std::optional<std::int64_t> rows, extra;
  double tolerance = 0;
  std::string rank = "plddt";
  bool all = false;     // true: writes all predictions; false: writes only the best prediction
  bool errors = false;  // true: writes predicted aligned errors
  std::string plot;     // extension of the plot; empty for no plot
  bool embeddings = false;
  bool json = false;
  std::optional<Compute> compute;
};

// Predicts structures of all queries, and prints a row for each prediction. The best prediction of a query is printed
// first. If a query fails, its error is printed and the other queries are processed. In this case, throws Error at the
// end.
void FoldQueries(const FoldCommandOptions& options);

}  // namespace headlight
