// The special and added tokens that the other files of a tokenizer's folder declare.
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

namespace headlight {

inline constexpr std::int32_t kMostIds = 1 << 22;  // the largest vocabularies have a quarter of a million

/// A token is its text, or an object with it and how it is matched.
std::string TextOfToken(const JsonView& token);

/// An entry of `added_tokens`: not normalized, and found within words.
Json AddedTokenJson(std::size_t id, std::string_view content, bool special = true, bool lstrip = false);

/// The settings of a tokenizer, without its vocabulary.
struct TokenizerSettings {
  std::string folder;
  JsonView config;  ///< tokenizer_config.json, and the special tokens of special_tokens_map.json
  JsonView added;   ///< added_tokens.json: tokens and their ids
  TokenizerFamily family = TokenizerFamily::unknown;
  bool builds_parts = false;          ///< its class does not take a tokenizer.json as it is
  std::int64_t model_vocabulary = 0;  ///< tokens of the model, by its config.json; 0: it does not say

  std::string Special(const char* name, const char* fallback) const;  ///< such as "eos_token"
};

/// The settings in a folder. Every file of them may be missing. Throws Error where the class is not supported.
TokenizerSettings ReadTokenizerSettings(const std::string& folder);

/// True if the class reads a SentencePiece model even if there is a tokenizer.json: SigLIP's.
bool ReadsModelFirst(const TokenizerSettings& settings);

/// A special token that a family of tokenizers has under that name of the configuration, unless it names another.
struct RoleToken {
  const char* role;
  const char* usual;
  bool lstrip = false;
};

/// Those of a family in Transformers 5.24.
const std::vector<RoleToken>& UsualTokens(TokenizerFamily family);

/// The tokens of a vocabulary by their ids, with the `added_tokens` of a tokenizer.json.
struct TokenTable {
  std::unordered_map<std::string, std::int32_t> ids;
  std::int32_t size = 0;  ///< the id of the next token without one
  Json::Array added;
  std::vector<std::string> places;  ///< of `added`, for errors

  /// Gives the token an id, which it may already have. Throws Error, which begins with `place`, where it has another.
  void Number(const std::string& content, std::int64_t id, const std::string& place);
  /// Adds an entry of `token`, a text or an object with its content and flags, to `added`. A token without an id gets
  /// the next one. An entry of the same content is kept if it is one of the first `keep`, and else replaced.
  void Add(const JsonView& token, bool special, bool normalized, bool lstrip, std::size_t keep = kAll);
  bool IsAdded(const std::string& content) const { return indices_.contains(content); }

 private:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  std::unordered_map<std::string, std::size_t> indices_;  // in `added`, by content
};

/// The source of entries: a tokenizer.json, whose tokens a class that builds its parts takes from the settings, or the
/// files of a vocabulary, such as the control pieces of a SentencePiece model.
enum class EntriesOf { tokenizer_json, vocabulary };

/// Adds to `table`, as Transformers (5.24) does, in this order: the entries of a tokenizer.json, unless the class
/// builds its parts; the tokens of `added_tokens_decoder` (with the entries of a vocabulary) or, without it, of
/// added_tokens.json and of `entries`, by their ids; the special tokens of `family` and of the settings; and the
/// additional ones. A token that the vocabulary lacks gets the next id, whatever its file says, if the class has the
/// tokenizers library. A special token that no file numbers gets it only if the model has a row for it. Of the special
/// tokens of settings the last counts if several are the same. Throws Error naming the file where the id of a token of
/// the vocabulary is another.
void AddDeclaredTokens(const TokenizerSettings& settings, const std::vector<JsonView>& entries,
                       const std::vector<RoleToken>& family, TokenTable& table,
                       EntriesOf of = EntriesOf::tokenizer_json);

}  // namespace headlight
