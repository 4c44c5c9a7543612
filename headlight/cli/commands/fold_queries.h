// The work of `headlight fold`: queries through models, ranked predictions into files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/cli/commands/shard.h"

namespace headlight {

struct FoldCommandOptions {
  std::vector<std::string> models;      // folders, or .npz files
  std::string sequence;                 // of one query, or
  std::vector<std::string> alignments;  // its alignments, or
  std::string database;                 // searched if there is no alignment
  std::vector<std::string> templates;   // structures, aligned to the query by
  std::string template_alignment;       // this file, or else by their sequences
  std::string file, alignment_folder;   // a FASTA file, and a folder with NAME.a3m or NAME.sto of these
  Shard shard;                          // of these
  std::string out;                      // a file for one query, a folder for others
  std::string out_format = "cif";       // in a folder
  std::uint64_t seed = 0;
  std::int64_t num_seeds = 1;
  std::optional<int> recycles;
  std::optional<std::int64_t> rows, extra;
  double tolerance = 0;
  std::string rank = "plddt";
  bool all = false;     // not the best prediction alone
  bool errors = false;  // as JSON
  std::string plot;     // its ending; empty: none
  bool embeddings = false;
  bool json = false;
  std::optional<Compute> compute;
};

// Prints a row for each prediction of a query, the best first. A query that fails is named on standard error, and the
// others go on; throws Error at the end where any has.
void FoldQueries(const FoldCommandOptions& options);

}  // namespace headlight
