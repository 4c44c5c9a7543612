// The attention of every kind of model, for headlight look.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headlight/image/picture.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/tasks/translator.h"

namespace headlight {

struct LookOptions {
  std::string folder;
  std::optional<std::string> source, target, text, second, picture, question, detector, patch, attention, against;
  std::optional<std::string> msa, sequence;  // of a protein
  std::optional<double> mass, threshold;
  bool checkpoints = false;
  std::optional<int> layer, residue;
  std::vector<std::string> out;
  TranslateOptions translate;
};

// The input of the models, besides the texts.
struct LookInput {
  const LookOptions& options;
  std::optional<Picture> picture = {};
};

// The name of a folder, without the path to it.
std::string NameOfFolder(const std::string& folder);

// The maps of the model in the folder that are wanted, and its name as their title. A page shows attention rollout,
// too; a drawing of texts where it is asked for. Throws Error for input that the model does not read, and for what it
// needs and is not given.
AttentionRecord AttentionFor(const std::string& folder, const LookInput& input, const AttentionChoice& choice);

}  // namespace headlight
