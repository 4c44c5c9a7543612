// Attention of models of all kinds.
//   AttentionRecord record = FolderAttention("opus-mt-de-en", {.source = "Guten Tag!"});
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "headlight/image/image.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

/// The model's inputs, and the selection of attention to record. Inputs that the model does not accept are errors.
struct AttentionInput {
  std::optional<std::string> source, target;  ///< for an encoder-decoder; caption models also accept `target`
  std::optional<std::string> text, second;    ///< for an encoder (a pair), a language model or a CLIP
  std::optional<Image> image;
  std::optional<std::string> question,
      detector;  ///< the folder of a detector, for models that answer questions about regions of images
  std::optional<std::string> attention;  ///< in the format of ParseAttentionChoice
  std::optional<int> layer;              ///< records only this layer, counted from 1
  std::optional<double> threshold;       ///< for a detector: the lowest score of an object
  std::optional<std::string> patch;      ///< ROW:COLUMN of the patch that is shown first
  TranslateOptions translate;
  std::function<void(const std::string&)> note = {};  ///< receives notes for the user; may be empty
};

/// Returns the last component of a folder's path.
std::string NameOfFolder(const std::string& folder);

/// Returns the attention weights or attention rollout that `input` selects, with the model's name as title. Throws
/// Error for inputs that the model does not accept, and for missing inputs.
AttentionRecord FolderAttention(const std::string& folder, const AttentionInput& input);

}  // namespace headlight
