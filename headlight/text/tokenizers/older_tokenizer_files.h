// The files that tokenizers were published in before `tokenizer.json`.
#pragma once

#include <optional>
#include <string>

#include "headlight/text/tokenizers/pipeline_state.h"

namespace headlight {

// The tokenizer of a folder's `vocab.txt` (BERT), its `vocab.json` and `merges.txt` (GPT, GPT-2, RoBERTa, BART,
// DeBERTa), or its SentencePiece model (T5, XLM-RoBERTa, mBART, DeBERTa-v2), with what its `tokenizer_config.json` and
// `config.json` say of them; nothing where the folder has none. Throws Error naming the file where one is broken, and
// where it is not known whose they are.
std::optional<PipelineState> LoadOlderTokenizer(const std::string& folder);

}  // namespace headlight
