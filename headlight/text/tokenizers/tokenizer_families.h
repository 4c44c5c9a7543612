// Which family of tokenizers a folder declares.
#pragma once

#include <string>

namespace headlight {

enum class TokenizerFamily {
  unknown,   // no class is declared, and the model's type is not known
  pipeline,  // supported, but only as a tokenizer.json describes it
  bert,
  clip,
  deberta,
  deberta_v2,
  esm,
  gpt1,
  gpt2,
  llama,
  marian,
  mbart,
  mbart50,
  roberta,
  siglip,
  t5,
  xlm_roberta
};

/// True where a class is declared that takes a tokenizer.json as it is, such as "PreTrainedTokenizerFast". Others build
/// some of its parts themselves.
bool TakesFileAsItIs(const std::string& tokenizer_class);

/// The family of a class of Transformers (5.24, and older names) such as "BertTokenizerFast", or where it is empty or
/// says nothing, of a `model_type`. Throws Error, which begins with `place`, where the class is not supported.
TokenizerFamily FamilyOf(const std::string& tokenizer_class, const std::string& model_type, const std::string& place);

}  // namespace headlight
