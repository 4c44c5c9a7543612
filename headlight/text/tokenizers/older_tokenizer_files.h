// The file formats of tokenizers before `tokenizer.json`.
#pragma once

#include <optional>
#include <string>

#include "headlight/text/tokenizers/pipeline_state.h"

namespace headlight {

// The tokenizer of a folder's `vocab.txt` (BERT, ESM), its `vocab.json` and `merges.txt` (GPT, GPT-2, RoBERTa, BART,
// DeBERTa), or its SentencePiece model (T5, XLM-RoBERTa, mBART, DeBERTa-v2, SigLIP), with the settings in its
// `tokenizer_config.json` and `config.json`; nothing where the folder has none. Throws Error naming the file where one
// is broken, and where their family is not known.
std::optional<PipelineState> LoadOlderTokenizer(const std::string& folder);

// True if the folder's SentencePiece model counts even if there is a tokenizer.json.
bool ReadsModelFirst(const std::string& folder);

}  // namespace headlight
