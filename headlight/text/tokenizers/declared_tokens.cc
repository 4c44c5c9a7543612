#include "headlight/text/tokenizers/declared_tokens.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/read_record.h"

namespace headlight {
namespace {

constexpr std::array<const char*, 7> kRoles = {"bos_token", "eos_token", "unk_token", "sep_token",
                                               "pad_token", "cls_token", "mask_token"};
constexpr std::array<const char*, 2> kAdditional = {"additional_special_tokens", "extra_special_tokens"};

JsonView ReadObject(const std::string& path) {
  if (!Exists(path)) return {Json::Object{}, path};
  JsonView json = ReadJson(path);
  json.Object();  // throws Error for other JSON types
  return json;
}

// Returns the tokens of both lists without duplicates.
Json Union(const Json* first, const Json& second) {
  const auto* more = second.As<Json::Array>();
  const auto* given = first != nullptr ? first->As<Json::Array>() : nullptr;
  if (more == nullptr || given == nullptr) return second;
  Json::Array both = *given;
  both.insert(both.end(), more->begin(), more->end());
  return both;
}

// Returns the tokens that the settings declare for roles outside kRoles, such as "image_token".
std::vector<JsonView> OtherRoles(const JsonView& config) {
  std::vector<JsonView> tokens;
  const auto names_token = [](const JsonView& value) {
    return value.value().As<std::string>() != nullptr || value.value().Find("content") != nullptr;
  };
  for (const auto& [name, value] : config.Members())
    if (name.ends_with("_token") && std::ranges::find(kRoles, name) == kRoles.end() && names_token(value))
      tokens.push_back(config[name]);  // access by name marks the key as read
  return tokens;
}

// Returns special tokens without a role, and the entries of extra_special_tokens with a custom role.
std::vector<JsonView> AdditionalTokens(const JsonView& config) {
  std::vector<JsonView> tokens;
  for (const char* key : kAdditional) {
    const JsonView given = config[key];
    if (!given.present()) continue;
    if (given.value().As<Json::Object>() != nullptr) {
      for (const auto& [name, token] : given.Members()) tokens.push_back(token);
    } else {
      for (const JsonView& token : given.Items()) tokens.push_back(token);
    }
  }
  return tokens;
}

std::int64_t IdOf(const std::string& text, const std::string& place) {
  Check(!text.empty() && text.size() < 9 && text.find_first_not_of("0123456789") == std::string::npos,
        "{}: {} is not an id", place, Quoted(text));
  const std::int64_t id = std::stol(text);
  Check(id < kMostIds, "{}: the id is {}, it must be from 0 to {}", place, id, kMostIds - 1);
  return id;
}

// Returns the number of embedding rows of the text model or decoder according to a config.json, or 0 if it is unknown.
std::int64_t RowsOf(const Json& model) {
  const Json *const text = model.Find("text_config"), *const decoder = model.Find("decoder");
  for (const Json* size :
       {model.Find("vocab_size"), model.Find("text_vocab_size"), text != nullptr ? text->Find("vocab_size") : nullptr,
        decoder != nullptr ? decoder->Find("vocab_size") : nullptr})
    if (const auto* number = size != nullptr ? size->As<std::int64_t>() : nullptr) return *number;
  return 0;
}

bool IsTrue(const Json* json) { return json != nullptr && *json == Json(true); }

// A token that is neither in a role nor additional, with the id from its file.
struct NumberedToken {
  std::int64_t id = 0;
  JsonView token;
  bool special = false;
};

// Returns true if the ids in files are used, as in tokenizers that are implemented in Python. The tokenizers library
// uses only the order of the tokens.
bool TakesIds(TokenizerFamily family) {
  using enum TokenizerFamily;
  return family == esm || family == marian || family == siglip;
}

void AddInOrder(std::vector<NumberedToken> tokens, bool takes_ids, TokenTable& table) {
  std::ranges::stable_sort(tokens, {}, &NumberedToken::id);
  for (const auto& [id, token, special] : tokens) {
    const std::string content = TextOfToken(token);
    const bool of_vocabulary = table.ids.Find(content) >= 0 && !table.IsAdded(content);
    if (takes_ids || of_vocabulary) table.Number(content, id, token.location());
    table.Add(token, special, !special, false, 0);
  }
}

// Throws Error for tokens that are not in the vocabulary but have the id of a vocabulary piece.
void CheckIds(const std::vector<NumberedToken>& tokens, const TokenTable& table) {
  std::unordered_map<std::int64_t, const NumberedToken*> by_id;
  for (const NumberedToken& token : tokens)
    if (table.ids.Find(TextOfToken(token.token)) < 0) by_id[token.id] = &token;
  if (by_id.empty()) return;
  table.ids.ForEach([&](std::string_view piece, std::int32_t id) {
    if (const auto found = by_id.find(id); found != by_id.end())
      Fail("{}: its id {} is that of {}", found->second->token.location(), id, Quoted(piece));
  });
}

}  // namespace

std::string TextOfToken(const JsonView& token) {
  return token.value().As<Json::Object>() != nullptr ? token["content"].String() : token.String();
}

Json AddedTokenJson(std::size_t id, std::string_view content, bool special, bool lstrip) {
  return Json::Object{{"content", content},  {"id", id},        {"lstrip", lstrip},
                      {"normalized", false}, {"rstrip", false}, {"single_word", false},
                      {"special", special}};
}

const std::vector<RoleToken>& UsualTokens(TokenizerFamily family) {
  static const std::vector<RoleToken> none;
  static const std::vector<RoleToken> bert = {{"unk_token", "[UNK]"},
                                              {"sep_token", "[SEP]"},
                                              {"pad_token", "[PAD]"},
                                              {"cls_token", "[CLS]"},
                                              {"mask_token", "[MASK]"}};
  static const std::vector<RoleToken> clip = {{"bos_token", "<|startoftext|>"},
                                              {"eos_token", "<|endoftext|>"},
                                              {"unk_token", "<|endoftext|>"},
                                              {"pad_token", "<|endoftext|>"}};
  static const std::vector<RoleToken> deberta = {
      {"bos_token", "[CLS]"}, {"eos_token", "[SEP]"}, {"unk_token", "[UNK]"},  {"sep_token", "[SEP]"},
      {"pad_token", "[PAD]"}, {"cls_token", "[CLS]"}, {"mask_token", "[MASK]"}};
  static const std::vector<RoleToken> gpt1 = {{"unk_token", "<unk>"}};
  static const std::vector<RoleToken> gpt2 = {
      {"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}, {"unk_token", "<|endoftext|>"}};
  static const std::vector<RoleToken> roberta = {
      {"bos_token", "<s>"},   {"eos_token", "</s>"}, {"unk_token", "<unk>"},  {"sep_token", "</s>"},
      {"pad_token", "<pad>"}, {"cls_token", "<s>"},  {"mask_token", "<mask>"}};
  static const std::vector<RoleToken> mbart = {
      {"bos_token", "<s>"},   {"eos_token", "</s>"}, {"unk_token", "<unk>"},        {"sep_token", "</s>"},
      {"pad_token", "<pad>"}, {"cls_token", "<s>"},  {"mask_token", "<mask>", true}};
  static const std::vector<RoleToken> siglip = {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "</s>"}};
  static const std::vector<RoleToken> t5 = {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}};
  switch (family) {
    case TokenizerFamily::bert:
      return bert;
    case TokenizerFamily::clip:
      return clip;
    case TokenizerFamily::deberta:
    case TokenizerFamily::deberta_v2:
      return deberta;
    case TokenizerFamily::gpt1:
      return gpt1;
    case TokenizerFamily::gpt2:
      return gpt2;
    case TokenizerFamily::mbart:
    case TokenizerFamily::mbart50:
      return mbart;
    case TokenizerFamily::roberta:
    case TokenizerFamily::xlm_roberta:
      return roberta;
    case TokenizerFamily::siglip:
      return siglip;
    case TokenizerFamily::t5:
      return t5;
    case TokenizerFamily::unknown:
    case TokenizerFamily::pipeline:
    case TokenizerFamily::llama:
    case TokenizerFamily::esm:
    case TokenizerFamily::marian:
      break;
  }
  return none;
}

std::string TokenizerSettings::Special(const char* name, const char* fallback) const {
  return TextOfToken(config.Get(name, fallback));
}

TokenizerSettings ReadTokenizerSettings(const std::string& folder) {
  const std::string path = folder + "/tokenizer_config.json";
  const JsonView file = ReadObject(path), model = ReadObject(folder + "/config.json");
  Json config = file.value();
  // In newer folders, tokenizer_config.json has all special tokens.
  if (!file["added_tokens_decoder"].present())
    for (const auto& [name, token] : ReadObject(folder + "/special_tokens_map.json").Members()) {
      const bool list = std::ranges::find(kAdditional, name) != kAdditional.end();
      config.Set(name, list ? Union(config.Find(name), token.value()) : token.value());
    }
  const JsonView& declared = file["tokenizer_class"].present() ? file : model;
  const JsonView settings(std::move(config), path);
  ReadRecord::Add(path, settings);
  const std::string name = declared.Get("tokenizer_class", "").String();
  return {folder,
          settings,
          ReadObject(folder + "/added_tokens.json"),
          FamilyOf(name, model.Get("model_type", "").String(), declared.location()),
          !UsesFileUnchanged(name),
          RowsOf(model.value())};
}

bool ReadsModelFirst(const TokenizerSettings& settings) {
  return settings.family == TokenizerFamily::siglip && settings.builds_parts;
}

void TokenTable::Number(const std::string& content, std::int64_t id, const std::string& place) {
  Check(id >= 0 && id < kMostIds, "{}: the id of {} is {}, it must be from 0 to {}", place, Quoted(content), id,
        kMostIds - 1);
  const auto number = static_cast<std::int32_t>(id);
  const std::int32_t known = ids.Insert(content, number);
  Check(known == number, "{}: the id of {} is {}, and {} in the vocabulary", place, Quoted(content), id, known);
  size = std::max(size, number + 1);
}

void TokenTable::Add(const JsonView& token, bool special, bool normalized, bool lstrip, std::size_t keep) {
  const std::string content = TextOfToken(token);
  Check(!content.empty(), "{}: its content is empty", token.location());
  const auto [known, is_new] = indices_.emplace(content, added.size());
  if (!is_new && known->second < keep) return;
  size = std::max(size, ids.Insert(content, size) + 1);
  Json entry = AddedTokenJson(static_cast<std::size_t>(ids.Find(content)), content, special, lstrip);
  entry.Set("normalized", normalized);
  if (token.value().As<Json::Object>() != nullptr)
    for (const char* flag : {"lstrip", "rstrip", "single_word", "normalized"})
      if (const JsonView given = token[flag]; given.present()) entry.Set(flag, given.Bool());
  if (is_new) {
    added.push_back(std::move(entry));
    places.push_back(token.location());
  } else {
    added[known->second] = std::move(entry);
    places[known->second] = token.location();
  }
}

void AddDeclaredTokens(const TokenizerSettings& settings, const std::vector<JsonView>& entries,
                       const std::vector<RoleToken>& family, TokenTable& table, EntriesOf of) {
  const JsonView& config = settings.config;
  const bool takes_ids = TakesIds(settings.family);
  const auto is_special = [](const JsonView& token) { return IsTrue(token.value().Find("special")); };
  const auto numbered = [&](const JsonView& entry) {
    return NumberedToken{entry["id"].Integer(0, kMostIds - 1), entry, is_special(entry)};
  };
  std::vector<NumberedToken> of_file, declared;
  for (const JsonView& entry : entries) of_file.push_back(numbered(entry));

  std::vector<JsonView> roles = OtherRoles(config), additional = AdditionalTokens(config);
  const JsonView decoder = config["added_tokens_decoder"];
  if (decoder.present()) {
    for (const auto& [id, token] : decoder.Members())
      declared.push_back({IdOf(id, decoder.location()), token, is_special(token)});
    if (settings.builds_parts && of == EntriesOf::tokenizer_json) of_file.clear();
  } else {
    std::unordered_set<std::string> special;
    for (const char* role : kRoles)
      if (const JsonView token = config[role]; token.present()) special.insert(TextOfToken(token));
    for (const std::vector<JsonView>* tokens : {&roles, &additional})
      for (const JsonView& token : *tokens) special.insert(TextOfToken(token));
    for (const auto& [content, id] : settings.added.Members())
      declared.push_back(
          {id.Integer(0, kMostIds - 1), {content, settings.added.location()}, special.contains(content)});
  }
  if (settings.builds_parts) declared.insert(declared.end(), of_file.begin(), of_file.end());
  CheckIds(of_file, table);
  CheckIds(declared, table);
  // Other classes add the tokens of a tokenizer.json first, in the order of the file.
  if (!settings.builds_parts)
    for (const NumberedToken& entry : of_file) AddInOrder({entry}, takes_ids, table);
  AddInOrder(std::move(declared), takes_ids, table);

  const std::size_t of_files = table.added.size();
  const auto add = [&](const JsonView& token, bool lstrip) {
    const bool has_row = settings.model_vocabulary == 0 || table.size < settings.model_vocabulary;
    if (has_row || table.ids.Find(TextOfToken(token)) >= 0) table.Add(token, true, false, lstrip, of_files);
  };
  for (const char* role : kRoles) {
    const auto usual = std::ranges::find(family, std::string_view(role), &RoleToken::role);
    const JsonView token = config[role];
    if (token.present()) {
      add(token, usual != family.end() && usual->lstrip);
    } else if (usual != family.end()) {
      add({usual->usual, config.location()}, usual->lstrip);
    }
  }
  for (const std::vector<JsonView>* tokens : {&roles, &additional})
    for (const JsonView& token : *tokens) add(token, false);
}

}  // namespace headlight
