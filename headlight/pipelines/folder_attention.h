// The attention of a model's folder, of any kind.
//   AttentionRecord record = FolderAttention("opus-mt-de-en", {.source = "Guten Tag!"});
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "headlight/image/image.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

/// What a model reads, and which attention is wanted. A kind of model refuses what it does not read.
struct AttentionInput {
  std::optional<std::string> source, target;  ///< of an encoder-decoder; `target` also of a caption model
  std::optional<std::string> text, second;    ///< of an encoder (a pair), a language model, a CLIP
  std::optional<Image> image;
  std::optional<std::string> question, detector;  ///< of models that answer; the folder that finds their regions
  std::optional<std::string> attention;           ///< as ParseAttentionChoice reads it
  std::optional<int> layer;                       ///< only this one, from 1
  std::optional<double> threshold;                ///< of a detector: the least score of an object
  std::optional<std::string> patch;               ///< ROW:COLUMN, whose attention is shown first
  TranslateOptions translate;
  std::function<void(const std::string&)> note = {};  ///< told what a user should know; may be empty
};

/// The name of a folder, without the path to it.
std::string NameOfFolder(const std::string& folder);

/// The maps of the model in the folder that are wanted, and its name as their title; attention rollout, too. Throws
/// Error for input that the model does not read, and for what it needs and is not given.
AttentionRecord FolderAttention(const std::string& folder, const AttentionInput& input);

}  // namespace headlight
