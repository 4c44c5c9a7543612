// Tokenizer families, as declared by a folder.
#pragma once

#include <string>

namespace headlight {

enum class TokenizerFamily {
  unknown,   ///< no class is declared, and the model type is unknown
  pipeline,  ///< supported, but only with a tokenizer.json
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

/// Returns true if the declared class, such as "PreTrainedTokenizerFast", uses a tokenizer.json unchanged. Other
/// classes build some of the components from settings.
bool UsesFileUnchanged(const std::string& tokenizer_class);

/// Returns the family of a class of Transformers (5.24, and older names) such as "BertTokenizerFast". If the class is
/// empty or generic, returns the family of a `model_type`. Throws Error, with a message that begins with `location`, if
/// the class is not supported.
TokenizerFamily FamilyOf(const std::string& tokenizer_class, const std::string& model_type,
                         const std::string& location);

}  // namespace headlight
