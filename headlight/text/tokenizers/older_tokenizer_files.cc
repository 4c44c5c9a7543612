#include "headlight/text/tokenizers/older_tokenizer_files.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/read_record.h"
#include "headlight/text/tokenizers/esm_tokenizer.h"
#include "headlight/text/tokenizers/tokenizer_json.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 25;  // bytes

// Begins the pieces of lines of vocab.txt that are there again later. No line and no word has a line end.
constexpr char kReplaced = '\n';

JsonView ReadObject(const std::string& path) {
  if (!Exists(path)) return {Json::Object{}, path};
  JsonView json = ReadJson(path);
  json.Object();  // refuses anything else
  return json;
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
  Json::Object vocabulary;  // pieces and their ids

  const Json* Find(std::string_view piece) const {
    const auto found = std::ranges::find(vocabulary, piece, &Json::Member::name);
    return found == vocabulary.end() ? nullptr : &found->value;
  }
  // A piece and its id.
  Json Named(const std::string& piece) const {
    const Json* const id = Find(piece);
    Check(id != nullptr, "{}: the vocabulary lacks {}", folder, Quoted(piece));
    return Json::Array{piece, *id};
  }
  // Adds the special tokens that the vocabulary has. The mask may be a word, with the space before it.
  void AddTokens(const std::vector<std::string>& pieces, bool lstrip, Json::Array& tokens) const {
    for (const std::string& piece : pieces)
      if (const Json* const id = Find(piece))
        tokens.push_back(AddedTokenJson(static_cast<std::size_t>(*id->As<std::int64_t>()), piece, true, lstrip));
  }
};

Json BertNormalizerJson(const JsonView& config) {
  Json normalizer = R"({"type": "BertNormalizer", "clean_text": true})"_json;
  normalizer.Set("handle_chinese_chars", config.Get("tokenize_chinese_chars", true).Bool());
  normalizer.Set("strip_accents", config["strip_accents"].value());
  normalizer.Set("lowercase", config.Get("do_lower_case", true).Bool());
  return normalizer;
}

// The special tokens before and after a text.
Json SurroundJson(const char* type, const Files& files, const std::string& cls, const std::string& sep) {
  return Json::Object{{"type", type}, {"sep", files.Named(sep)}, {"cls", files.Named(cls)}};
}

Json BpeJson(Json::Object vocabulary, Json::Array merges) {
  Json model = R"({"type": "BPE"})"_json;
  model.Set("vocab", std::move(vocabulary));
  model.Set("merges", std::move(merges));
  return model;
}

Json BertJson(Files files) {
  const std::string cls = files.Special("cls_token", "[CLS]"), sep = files.Special("sep_token", "[SEP]");
  const std::string unk = files.Special("unk_token", "[UNK]"), pad = files.Special("pad_token", "[PAD]");
  Json::Array added;
  files.AddTokens({pad, unk, cls, sep, files.Special("mask_token", "[MASK]")}, false, added);
  Json json = R"({"pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece"}})"_json;
  json.Set("added_tokens", std::move(added));
  json.Set("normalizer", BertNormalizerJson(files.config));
  json.Set("post_processor", SurroundJson("BertProcessing", files, cls, sep));
  Json model = R"({"type": "WordPiece"})"_json;
  model.Set("unk_token", unk);
  model.Set("vocab", std::move(files.vocabulary));
  json.Set("model", std::move(model));
  return json;
}

// ESM's: every piece is found wherever it stands, spaces are none, and what stands between is one unknown token.
Json EsmJson(Files files) {
  const std::string cls = files.Special("cls_token", "<cls>"), eos = files.Special("eos_token", "<eos>");
  Json::Array added;
  for (const auto& [piece, id] : files.vocabulary)
    if (!piece.empty() && !piece.starts_with(kReplaced))
      added.push_back(AddedTokenJson(static_cast<std::size_t>(*id.As<std::int64_t>()), piece,
                                     /*special=*/piece.size() > 1));
  Json json = R"({"version": "1.0", "truncation": null, "padding": null, "normalizer": null, "decoder": null})"_json;
  json.Set("added_tokens", std::move(added));
  json.Set("pre_tokenizer", R"({"type": "WhitespaceSplit"})"_json);
  json.Set("post_processor", SurroundJson("BertProcessing", files, cls, eos));
  // Of whole words, since no piece continues one.
  Json model = R"({"type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100})"_json;
  model.Set("unk_token", files.Special("unk_token", "<unk>"));
  model.Set("vocab", std::move(files.vocabulary));
  json.Set("model", std::move(model));
  return json;
}

Json Gpt1Json(Files files, Json::Array merges) {
  const std::string unk = files.Special("unk_token", "<unk>");
  Json::Array added;
  files.AddTokens({unk}, false, added);
  Json json = R"({"pre_tokenizer": {"type": "BertPreTokenizer"},
                  "decoder": {"type": "BPEDecoder", "suffix": "</w>"}})"_json;
  json.Set("added_tokens", std::move(added));
  json.Set("normalizer", BertNormalizerJson(files.config));
  Json model = BpeJson(std::move(files.vocabulary), std::move(merges));
  model.Set("unk_token", unk);
  model.Set("end_of_word_suffix", "</w>");
  json.Set("model", std::move(model));
  return json;
}

enum class ByteLevelKind { gpt2, roberta, deberta };

Json ByteLevelJson(Files files, Json::Array merges, ByteLevelKind kind) {
  const bool prefix = files.config.Get("add_prefix_space", false).Bool();
  Json level = R"({"type": "ByteLevel"})"_json, processor;
  Json json = Json::Object{};
  json.Set("decoder", level);
  level.Set("add_prefix_space", prefix);
  json.Set("pre_tokenizer", level);
  Json::Array added;
  if (kind == ByteLevelKind::gpt2) {
    files.AddTokens({files.Special("eos_token", "<|endoftext|>")}, false, added);
    level.Set("trim_offsets", false);
    processor = std::move(level);
  } else if (kind == ByteLevelKind::roberta) {
    const std::string cls = files.Special("cls_token", "<s>"), sep = files.Special("sep_token", "</s>");
    files.AddTokens({files.Special("bos_token", "<s>"), files.Special("pad_token", "<pad>"),
                     files.Special("eos_token", "</s>"), files.Special("unk_token", "<unk>")},
                    false, added);
    files.AddTokens({files.Special("mask_token", "<mask>")}, true, added);
    processor = SurroundJson("RobertaProcessing", files, cls, sep);
    processor.Set("trim_offsets", true);
    processor.Set("add_prefix_space", prefix);
  } else {
    const std::string cls = files.Special("cls_token", "[CLS]"), sep = files.Special("sep_token", "[SEP]");
    files.AddTokens({cls, sep, files.Special("unk_token", "[UNK]"), files.Special("pad_token", "[PAD]")}, false, added);
    files.AddTokens({files.Special("mask_token", "[MASK]")}, true, added);
    processor = SurroundJson("BertProcessing", files, cls, sep);
  }
  json.Set("post_processor", std::move(processor));
  json.Set("added_tokens", std::move(added));
  json.Set("model", BpeJson(std::move(files.vocabulary), std::move(merges)));
  return json;
}

Json ClipJson(Files files, Json::Array merges) {
  const std::string bos = files.Special("bos_token", "<|startoftext|>"),
                    eos = files.Special("eos_token", "<|endoftext|>");
  Json::Array added;
  files.AddTokens({bos, eos}, false, added);
  Json json = R"({"decoder": {"type": "ByteLevel"}})"_json;
  json.Set("added_tokens", std::move(added));
  json.Set("normalizer", SequenceJson("normalizers", {R"({"type": "NFC"})"_json, ReplaceJson("Regex", "\\s+", " "),
                                                      R"({"type": "Lowercase"})"_json}));
  Json split = R"({"type": "Split", "behavior": "Removed", "invert": true})"_json;
  split.Set("pattern", Json::Object{{"Regex", kClipWords}});
  json.Set("pre_tokenizer",
           SequenceJson("pretokenizers", {split, R"({"type": "ByteLevel", "add_prefix_space": false})"_json}));
  Json processor = SurroundJson("RobertaProcessing", files, bos, eos);
  processor.Set("trim_offsets", false);
  processor.Set("add_prefix_space", false);
  json.Set("post_processor", std::move(processor));
  const std::string unk = files.Special("unk_token", "<|endoftext|>");
  Json model = BpeJson(std::move(files.vocabulary), std::move(merges));
  model.Set("unk_token", unk);
  model.Set("end_of_word_suffix", "</w>");
  json.Set("model", std::move(model));
  return json;
}

Json FromMerges(Files files) {
  const std::string path = files.folder + "/vocab.json";
  const JsonView vocabulary = ReadObject(path);
  PiecesById(vocabulary);  // refuses ids that are none
  files.vocabulary = vocabulary.Object();
  Json::Array merges;
  for (const std::string& line : Lines(files.folder + "/merges.txt")) {
    if (!line.empty() && !line.starts_with("#version")) merges.emplace_back(line);
  }
  const auto is = [&](const char* name) { return files.kind.find(name) != std::string::npos; };
  if (is("OpenAIGPT") || is("openai-gpt")) return Gpt1Json(std::move(files), std::move(merges));
  const auto byte_level = [&](ByteLevelKind kind) { return ByteLevelJson(std::move(files), std::move(merges), kind); };
  if (is("GPT2") || is("gpt2") || is("gpt_neo")) return byte_level(ByteLevelKind::gpt2);
  if (is("Roberta") || is("roberta") || is("Bart") || is("bart")) return byte_level(ByteLevelKind::roberta);
  if (is("Deberta") || is("deberta")) return byte_level(ByteLevelKind::deberta);
  if (is("CLIP") || is("clip")) return ClipJson(std::move(files), std::move(merges));
  Fail(
      "{}: neither tokenizer_config.json (tokenizer_class) nor config.json (model_type) says which family its "
      "vocab.json and merges.txt are of; known are those of GPT, GPT-2, RoBERTa, BART, DeBERTa and CLIP",
      files.folder);
}

TokenizerSettings ReadSettings(const std::string& folder) {
  const std::string path = folder + "/tokenizer_config.json";
  const JsonView file = ReadObject(path);
  Json config = file.value();
  // Newer folders say it all in the configuration.
  if (!file["added_tokens_decoder"].present())
    for (const auto& [name, token] : ReadObject(folder + "/special_tokens_map.json").Members())
      config.Set(name, token.value());
  std::string kind = file.Get("tokenizer_class", "").String() + " " +
                     ReadObject(folder + "/config.json").Get("model_type", "").String();
  const JsonView settings(std::move(config), path);
  ReadRecord::Add(path, settings);
  return {folder, settings, ReadObject(folder + "/added_tokens.json"), std::move(kind)};
}

std::optional<Json> TokenizerJson(const std::string& folder) {
  Files files{ReadSettings(folder), {}};
  if (const std::string path = folder + "/vocab.txt"; Exists(path)) {
    // Of equal lines the last has the token, as in Transformers. The id of another keeps a piece that no text has.
    std::vector<std::string> lines = Lines(path);
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t id = 0; id < lines.size(); ++id) last[lines[id]] = id;
    for (std::size_t id = 0; id < lines.size(); ++id)
      files.vocabulary.push_back(
          {last[lines[id]] == id ? lines[id] : std::string(1, kReplaced) + std::to_string(id), id});
    const bool esm = files.kind.find("Esm") != std::string::npos || files.kind.ends_with(" esm");
    return esm ? EsmJson(std::move(files)) : BertJson(std::move(files));
  }
  if (Exists(folder + "/vocab.json") && Exists(folder + "/merges.txt")) return FromMerges(std::move(files));
  return TokenizerJsonOfSentencePiece(files);
}

}  // namespace

Json EsmTokenizerJson() {
  Files files{{"ESM's tokenizer", {Json::Object{}, ""}, {Json::Object{}, ""}, "EsmTokenizer"}, {}};
  const auto add = [&](std::string piece) { files.vocabulary.push_back({std::move(piece), files.vocabulary.size()}); };
  for (const char* special : {"<cls>", "<pad>", "<eos>", "<unk>"}) add(special);
  for (const char residue : std::string_view("LAGVSERTIDPKQNFYMHWCXBUZO.-")) add(std::string(1, residue));
  for (const char* special : {"<null_1>", "<mask>"}) add(special);
  return EsmJson(std::move(files));
}

std::optional<PipelineState> LoadOlderTokenizer(const std::string& folder) {
  std::optional<Json> json = TokenizerJson(folder);
  if (!json) return std::nullopt;
  return MakePipelineState(JsonView(std::move(*json), folder), ScoresAre::exact);
}

}  // namespace headlight
