// Tokenizer file formats that are older than `tokenizer.json`.
#pragma once

#include <optional>
#include <string>

#include "headlight/base/json.h"
#include "headlight/text/tokenizers/pipeline_state.h"

namespace headlight {

/// Loads the tokenizer of a folder, with the settings in its `tokenizer_config.json` and `config.json`, from
/// - `vocab.txt` (BERT, ESM);
/// - `vocab.json` and `merges.txt` (GPT, GPT-2, RoBERTa, BART, DeBERTa); or
/// - a SentencePiece model (T5, XLM-RoBERTa, mBART, DeBERTa-v2, SigLIP).
/// Returns nothing if the folder has none of these. Throws Error naming the file if it is invalid or the family is
/// unknown.
std::optional<PipelineState> LoadOlderTokenizer(const std::string& folder);
/// Returns the equivalent `tokenizer.json`, or nothing if the folder has none of these older formats.
std::optional<Json> OlderTokenizerJson(const std::string& folder);

/// Returns true if the folder's SentencePiece model is used even if there is a tokenizer.json.
bool ReadsModelFirst(const std::string& folder);

}  // namespace headlight
