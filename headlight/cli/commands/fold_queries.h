// Predicts structures of queries, ranks them and writes files, for `headlight fold`.
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
  std::string sequence;                 // of one query
  std::vector<std::string> alignments;  // of one query
  std::string database;                 // searched if there is no alignment
  std::vector<std::string> templates;   // files of structures
  std::string template_alignment;       // of the templates to the query; empty: sequences are aligned
  std::string file, alignment_folder;   // a FASTA file of queries, and a folder with their NAME.a3m or NAME.sto
  Shard shard;                          // of the queries
  std::string out;                      // a file for one query, a folder for many
  std::string out_format = "cif";       // of files in a folder
  std::uint64_t seed = 1;
  std::int64_t num_seeds = 1;
  std::optional<int> recycles;
  std::optional<std::int64_t> rows, extra;
  double tolerance = 0;
  std::string rank = "plddt";
  bool all = false;     // whether all predictions are written, or the best only
  bool errors = false;  // whether predicted aligned errors are written
  std::string plot;     // extension of the plot; empty: none
  bool embeddings = false;
  bool json = false;
  std::optional<Compute> compute;
};

// Prints a row for each prediction of a query, with the best first. If a query fails, its error is printed, the others
// continue, and Error is thrown at the end.
void FoldQueries(const FoldCommandOptions& options);

}  // namespace headlight
