// The options of `look`, and its output for structure prediction models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlight/pipelines/folder_attention.h"

namespace headlight {

struct LookOptions : AttentionInput {
  std::string folder;
  std::optional<std::string> image_path, against;
  std::optional<std::string> msa, sequence;  // inputs of protein models
  std::optional<int> residue;
  std::optional<double> mass;
  bool checkpoints = false;
  std::vector<std::string> out;
};

// Writes an attention page. If it is larger than 20 MB, prints a note on how to make it smaller.
void WritePage(const std::string& path, const std::string& page);

// Writes pages that show how the model folds the query of options.msa or options.sequence, and drawings of the
// attention of options.residue.
void LookAtStructure(const LookOptions& options);

}  // namespace headlight
