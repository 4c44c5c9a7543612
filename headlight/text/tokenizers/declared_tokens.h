// Reads the special and added tokens that are declared in files other than tokenizer.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/text/tokenizers/tokenizer_families.h"
#include "headlight/text/tokenizers/word_table.h"

namespace headlight {

inline constexpr std::int32_t kMostIds = 1 << 22;  ///< the largest known vocabularies have 262,144 tokens

/// Returns the text of a token, which is a JSON string or an object with its content and matching flags.
std::string TextOfToken(const JsonView& token);

/// Builds an entry of `added_tokens` that is matched in the raw text, including within words.
Json AddedTokenJson(std::size_t id, std::string_view content, bool special = true, bool lstrip = false);

/// The settings of a tokenizer, without its vocabulary.
struct TokenizerSettings {
  std::string folder;
  JsonView config;  ///< tokenizer_config.json, and the special tokens of special_tokens_map.json
  JsonView added;   ///< added_tokens.json: tokens and their ids
  TokenizerFamily family = TokenizerFamily::unknown;
  /// If true, the tokenizer class ignores the components of a tokenizer.json and builds its own from the settings.
  bool builds_parts = false;
  std::int64_t model_vocabulary = 0;  ///< the model's number of tokens, from its config.json; 0: unknown

  std::string Special(const char* name, const char* fallback) const;  ///< the token in a role such as "eos_token"
};

/// Reads the settings in a folder. Each file is optional. Throws Error if the class is not supported.
TokenizerSettings ReadTokenizerSettings(const std::string& folder);

/// Returns true for classes, such as SigLIP's, that use a SentencePiece model even if there is a tokenizer.json.
bool ReadsModelFirst(const TokenizerSettings& settings);

/// The default special token of a tokenizer family in a role.
struct RoleToken {
  const char* role;
  const char* usual;
  bool lstrip = false;
};

/// Returns the special tokens of a family in Transformers 5.24.
const std::vector<RoleToken>& UsualTokens(TokenizerFamily family);

/// The tokens of a vocabulary with their ids, and the `added_tokens` of a tokenizer.json.
struct TokenTable {
  WordTable ids;
  std::int32_t size = 0;  ///< the id for the next token without an id
  Json::Array added;
  std::vector<std::string> places;  ///< the locations of the entries of `added`, for error messages

  /// Assigns an id to a token. Throws Error, with a message that begins with `location`, if the token already has
  /// another id.
  void Number(const std::string& content, std::int64_t id, const std::string& location);
  /// Adds an entry to `added` for `token`, which is a string or an object with content and flags. A token without an id
  /// is assigned the next id. An existing entry with the same content is replaced, unless it is among the first `keep`
  /// entries.
  void Add(const JsonView& token, bool special, bool normalized, bool lstrip, std::size_t keep = kAll);
  bool IsAdded(const std::string& content) const { return indices_.contains(content); }

 private:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  std::unordered_map<std::string, std::size_t> indices_;  // index in `added` by content
};

/// The source of the entries: a tokenizer.json, or vocabulary files, for example a SentencePiece model with control
/// pieces. If the class builds its components from settings, `added_tokens_decoder` replaces the entries of a
/// tokenizer.json.
enum class EntriesOf { tokenizer_json, vocabulary };

/// Adds tokens to `table` in the order of Transformers (5.24):
/// 1. the entries of a tokenizer.json, unless the class builds its components from settings;
/// 2. the tokens of `added_tokens_decoder` (with the entries of a vocabulary) or, without it, of added_tokens.json and
///    of `entries`, by their ids;
/// 3. the special tokens of `family` and of the settings;
/// 4. the additional special tokens.
///
/// If the class uses the tokenizers library, which ignores ids in files, a token outside the vocabulary is assigned the
/// next id. A special token without an id in any file is assigned an id only if the embedding matrix has a row for this
/// id. If the settings repeat a special token, the last entry is used. Throws Error naming the file if a token of the
/// vocabulary is declared with another id.
void AddDeclaredTokens(const TokenizerSettings& settings, const std::vector<JsonView>& entries,
                       const std::vector<RoleToken>& family, TokenTable& table,
                       EntriesOf of = EntriesOf::tokenizer_json);

}  // namespace headlight
