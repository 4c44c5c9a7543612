#include "headlight/text/tokenizers/older_tokenizer_files.h"

#include <filesystem>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/text/tokenizers/json_part-inl.h"
#include "headlight/text/tokenizers/older_tokenizer_settings-inl.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 25;  // bytes

bool Exists(const std::string& path) {
  std::error_code error;  // what cannot be looked at is left to whoever opens it
  return std::filesystem::exists(path, error) || error;
}

Json ReadObject(const std::string& path) {
  if (!Exists(path)) return Json::object();
  return WithJson(ReadFile(path, kLargestFile), path, [&](const Json& json) {
    Check(json.is_object(), "{}: it must be an object", path);
    return json;
  });
}

std::vector<std::string> Lines(const std::string& path) {
  const std::string text = ReadFile(path, kLargestFile);
  CheckUtf8(text, path);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string& line = lines.emplace_back(text.substr(begin, end - begin));
    if (line.ends_with('\r')) line.pop_back();
    begin = end + 1;
  }
  return lines;
}

struct Files : TokenizerSettings {
  Json vocabulary;  // pieces and their ids

  std::uint64_t IdOf(const std::string& piece) const {
    const auto found = vocabulary.find(piece);
    Check(found != vocabulary.end(), "{}: the vocabulary lacks \"{}\"", folder, piece);
    return found->get<std::uint64_t>();
  }
  Json Named(const std::string& piece) const { return {piece, IdOf(piece)}; }
  // The special tokens that the vocabulary has, as added tokens.
  Json Added(const std::vector<std::string>& pieces) const {
    Json tokens = Json::array();
    for (const std::string& piece : pieces) {
      if (!vocabulary.contains(piece)) continue;
      tokens.push_back({{"id", vocabulary[piece]}, {"content", piece}, {"special", true}, {"normalized", false}});
    }
    return tokens;
  }
};

Json BertNormalizerOf(const Json& config) {
  return {{"type", "BertNormalizer"},
          {"clean_text", true},
          {"handle_chinese_chars", config.value("tokenize_chinese_chars", true)},
          {"strip_accents", config.contains("strip_accents") ? config["strip_accents"] : Json()},
          {"lowercase", config.value("do_lower_case", true)}};
}

Json Bert(const Files& files) {
  const std::string cls = SpecialToken(files.config, "cls_token", "[CLS]"),
                    sep = SpecialToken(files.config, "sep_token", "[SEP]");
  const std::string unk = SpecialToken(files.config, "unk_token", "[UNK]"),
                    pad = SpecialToken(files.config, "pad_token", "[PAD]");
  const std::string mask = SpecialToken(files.config, "mask_token", "[MASK]");
  return {{"added_tokens", files.Added({pad, unk, cls, sep, mask})},
          {"normalizer", BertNormalizerOf(files.config)},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", {{"type", "BertProcessing"}, {"sep", files.Named(sep)}, {"cls", files.Named(cls)}}},
          {"decoder", {{"type", "WordPiece"}}},
          {"model", {{"type", "WordPiece"}, {"unk_token", unk}, {"vocab", files.vocabulary}}}};
}

Json Gpt1(const Files& files, Json merges) {
  const std::string unk = SpecialToken(files.config, "unk_token", "<unk>");
  return {{"added_tokens", files.Added({unk})},
          {"normalizer", BertNormalizerOf(files.config)},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"decoder", {{"type", "BPEDecoder"}, {"suffix", "</w>"}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", unk},
            {"end_of_word_suffix", "</w>"},
            {"vocab", files.vocabulary},
            {"merges", std::move(merges)}}}};
}

Json ByteLevel(const Files& files, Json merges, bool roberta) {
  const bool prefix = files.config.value("add_prefix_space", false);
  Json json = {{"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", prefix}}},
               {"decoder", {{"type", "ByteLevel"}}},
               {"model", {{"type", "BPE"}, {"vocab", files.vocabulary}, {"merges", std::move(merges)}}}};
  if (!roberta) {
    json["added_tokens"] = files.Added({SpecialToken(files.config, "eos_token", "<|endoftext|>")});
    json["post_processor"] = {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"trim_offsets", false}};
    return json;
  }
  const std::string bos = SpecialToken(files.config, "bos_token", "<s>"),
                    eos = SpecialToken(files.config, "eos_token", "</s>");
  const std::string cls = SpecialToken(files.config, "cls_token", "<s>"),
                    sep = SpecialToken(files.config, "sep_token", "</s>");
  const std::string unk = SpecialToken(files.config, "unk_token", "<unk>"),
                    pad = SpecialToken(files.config, "pad_token", "<pad>");
  json["added_tokens"] = files.Added({bos, pad, eos, unk});
  const std::string mask = SpecialToken(files.config, "mask_token", "<mask>");
  for (Json& token : files.Added({mask})) {
    token["lstrip"] = true;  // the mask is a word, with the space before it
    json["added_tokens"].push_back(token);
  }
  json["post_processor"] = {{"type", "RobertaProcessing"},
                            {"sep", files.Named(sep)},
                            {"cls", files.Named(cls)},
                            {"trim_offsets", true},
                            {"add_prefix_space", prefix}};
  return json;
}

Json Deberta(const Files& files, Json merges) {
  const std::string cls = SpecialToken(files.config, "cls_token", "[CLS]"),
                    sep = SpecialToken(files.config, "sep_token", "[SEP]");
  Json json = ByteLevel(files, std::move(merges), false);
  json["added_tokens"] = files.Added(
      {cls, sep, SpecialToken(files.config, "unk_token", "[UNK]"), SpecialToken(files.config, "pad_token", "[PAD]")});
  for (Json& token : files.Added({SpecialToken(files.config, "mask_token", "[MASK]")})) {
    token["lstrip"] = true;
    json["added_tokens"].push_back(token);
  }
  json["post_processor"] = {{"type", "BertProcessing"}, {"sep", files.Named(sep)}, {"cls", files.Named(cls)}};
  return json;
}

Json FromMerges(Files files) {
  const std::string path = files.folder + "/vocab.json";
  files.vocabulary = ReadObject(path);
  PiecesById(files.vocabulary, path);  // refuses what is none
  Json merges = Json::array();
  for (const std::string& line : Lines(files.folder + "/merges.txt")) {
    if (!line.empty() && !line.starts_with("#version")) merges.push_back(line);
  }
  const auto is = [&](const char* name) { return files.kind.find(name) != std::string::npos; };
  if (is("OpenAIGPT") || is("openai-gpt")) return Gpt1(files, std::move(merges));
  if (is("GPT2") || is("gpt2") || is("gpt_neo")) return ByteLevel(files, std::move(merges), false);
  if (is("Roberta") || is("roberta") || is("Bart") || is("bart")) return ByteLevel(files, std::move(merges), true);
  if (is("Deberta") || is("deberta")) return Deberta(files, std::move(merges));
  Fail(
      "{}: whose vocab.json and merges.txt these are, neither tokenizer_config.json (tokenizer_class) nor config.json "
      "(model_type) says; known are those of GPT, GPT-2, RoBERTa, BART and DeBERTa",
      files.folder);
}

TokenizerSettings ReadSettings(const std::string& folder) {
  TokenizerSettings settings{folder, ReadObject(folder + "/tokenizer_config.json"),
                             ReadObject(folder + "/added_tokens.json"), ""};
  settings.kind =
      settings.config.value("tokenizer_class", "") + " " + ReadObject(folder + "/config.json").value("model_type", "");
  // Newer folders say it all in the configuration.
  if (!settings.config.contains("added_tokens_decoder"))
    settings.config.update(ReadObject(folder + "/special_tokens_map.json"));
  return settings;
}

std::optional<Json> TokenizerJson(const std::string& folder) {
  Files files{ReadSettings(folder), Json::object()};
  if (const std::string path = folder + "/vocab.txt"; Exists(path)) {
    std::uint64_t id = 0;
    for (const std::string& line : Lines(path)) {
      Check(!files.vocabulary.contains(line), "{}: line {}: \"{}\" is there twice", path, id + 1, line);
      files.vocabulary[line] = id++;
    }
    return Bert(files);
  }
  if (Exists(folder + "/vocab.json") && Exists(folder + "/merges.txt")) return FromMerges(std::move(files));
  return TokenizerJsonOfSentencePiece(files);
}

}  // namespace

std::string SpecialToken(const Json& config, const char* name, const char* usual) {
  const auto found = config.find(name);
  if (found == config.end() || found->is_null()) return usual;
  return found->is_object() ? found->at("content").get<std::string>() : found->get<std::string>();
}

std::optional<TokenizerState> LoadOlderTokenizer(const std::string& folder) {
  try {
    const std::optional<Json> json = TokenizerJson(folder);
    if (!json) return std::nullopt;
    return MakeTokenizerState(*json, folder, ScoresAre::exact);
  } catch (const Json::exception& error) {
    Fail("{}: tokenizer_config.json, special_tokens_map.json, added_tokens.json or config.json: {}", folder,
         error.what());
  }
}

}  // namespace headlight
