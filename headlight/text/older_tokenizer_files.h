// The files that tokenizers were published in before `tokenizer.json`.
#pragma once

#include <optional>
#include <string>

namespace headlight {

// The `tokenizer.json` that says the same as a folder's `vocab.txt` (BERT), or its `vocab.json` and `merges.txt` (GPT,
// GPT-2, RoBERTa, BART), with what its `tokenizer_config.json` and `config.json` say of them; nothing where the folder
// has neither. Throws Error naming the file where one is broken, and where it is not known whose they are.
std::optional<std::string> TokenizerJsonOfOlderFiles(const std::string& folder);

}  // namespace headlight
