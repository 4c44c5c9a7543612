#include "headlight/text/tokenizers/older_tokenizer_files.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/text/tokenizers/esm_tokenizer.h"
#include "headlight/text/tokenizers/tokenizer_json.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

constexpr std::uint64_t kLargestOlderFile = std::uint64_t{1} << 25;  // bytes

// The prefix of pieces for lines of vocab.txt that are repeated later. Lines and words never contain a line end.
constexpr char kReplaced = '\n';

std::vector<std::string> LinesOf(const std::string& path) {
  const std::string text = ReadFile(path, kLargestOlderFile);
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

  // Returns the vocabulary with the tokens of the family and the tokens that the files declare.
  TokenTable Tokens() const {
    TokenTable table;
    for (const auto& [piece, id] : vocabulary)
      table.ids.Insert(piece, static_cast<std::int32_t>(*id.As<std::int64_t>()));
    table.size = static_cast<std::int32_t>(vocabulary.size());
    AddDeclaredTokens(*this, {}, UsualTokens(family), table);
    return table;
  }
};

Json BertNormalizerJson(const JsonView& config) {
  Json normalizer = R"({"type": "BertNormalizer", "clean_text": true})"_json;
  normalizer.Set("handle_chinese_chars", config.Get("tokenize_chinese_chars", true).Bool());
  normalizer.Set("strip_accents", config["strip_accents"].value());
  normalizer.Set("lowercase", config.Get("do_lower_case", true).Bool());
  return normalizer;
}

std::int32_t IdOf(const std::string& token, const Files& files, const TokenTable& tokens) {
  const std::int32_t found = tokens.ids.Find(token);
  Check(found >= 0, "{}: {} is not in the vocabulary", files.config.location(), Quoted(token));
  return found;
}

// Builds a post-processor that adds the special tokens before and after a text.
Json SurroundJson(const char* type, const Files& files, const TokenTable& tokens, const std::string& cls,
                  const std::string& sep) {
  const auto named = [&](const std::string& token) { return Json::Array{token, IdOf(token, files, tokens)}; };
  return Json::Object{{"type", type}, {"sep", named(sep)}, {"cls", named(cls)}};
}

Json BpeJson(Json::Object vocabulary, Json::Array merges) {
  Json model = R"({"type": "BPE"})"_json;
  model.Set("vocab", std::move(vocabulary));
  model.Set("merges", std::move(merges));
  return model;
}

Json BertJson(Files files) {
  files.family = TokenizerFamily::bert;  // the default if no family is declared
  const std::string cls = files.Special("cls_token", "[CLS]"), sep = files.Special("sep_token", "[SEP]");
  const std::string unk = files.Special("unk_token", "[UNK]");
  TokenTable tokens = files.Tokens();
  Json json = R"({"pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece"}})"_json;
  json.Set("added_tokens", std::move(tokens.added));
  json.Set("normalizer", BertNormalizerJson(files.config));
  json.Set("post_processor", SurroundJson("BertProcessing", files, tokens, cls, sep));
  Json model = R"({"type": "WordPiece"})"_json;
  model.Set("unk_token", unk);
  model.Set("vocab", std::move(files.vocabulary));
  json.Set("model", std::move(model));
  return json;
}

// Builds ESM's tokenizer: every piece is matched in the raw text, spaces are removed, and other text is one unknown
// token.
Json EsmJson(Files files) {
  const std::string cls = files.Special("cls_token", "<cls>"), eos = files.Special("eos_token", "<eos>");
  TokenTable tokens = files.Tokens();
  for (const auto& [piece, id] : files.vocabulary)
    if (!piece.empty() && !piece.starts_with(kReplaced))
      tokens.Add({piece, files.folder + "/vocab.txt"}, /*special=*/piece.size() > 1, false, false);
  Json json = R"({"version": "1.0", "truncation": null, "padding": null, "normalizer": null, "decoder": null})"_json;
  json.Set("added_tokens", std::move(tokens.added));
  json.Set("pre_tokenizer", R"({"type": "WhitespaceSplit"})"_json);
  json.Set("post_processor", SurroundJson("BertProcessing", files, tokens, cls, eos));
  // WordPiece matches only whole words here, since no piece continues a word.
  Json model = R"({"type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100})"_json;
  model.Set("unk_token", files.Special("unk_token", "<unk>"));
  model.Set("vocab", std::move(files.vocabulary));
  json.Set("model", std::move(model));
  return json;
}

Json Gpt1Json(Files files, Json::Array merges) {
  const std::string unk = files.Special("unk_token", "<unk>");
  Json json = R"({"pre_tokenizer": {"type": "BertPreTokenizer"},
                  "decoder": {"type": "BPEDecoder", "suffix": "</w>"}})"_json;
  json.Set("added_tokens", files.Tokens().added);
  json.Set("normalizer", BertNormalizerJson(files.config));
  Json model = BpeJson(std::move(files.vocabulary), std::move(merges));
  model.Set("unk_token", unk);
  model.Set("end_of_word_suffix", "</w>");
  json.Set("model", std::move(model));
  return json;
}

Json ByteLevelJson(Files files, Json::Array merges) {
  const bool prefix = files.config.Get("add_prefix_space", false).Bool();
  Json level = R"({"type": "ByteLevel"})"_json, processor;
  Json json = Json::Object{};
  json.Set("decoder", level);
  level.Set("add_prefix_space", prefix);
  json.Set("pre_tokenizer", level);
  TokenTable tokens;
  if (files.family == TokenizerFamily::gpt2) {
    constexpr const char* end = "<|endoftext|>";
    tokens = files.Tokens();
    level.Set("trim_offsets", false);
    processor = std::move(level);
    std::vector<std::string> single, pair;
    for (const char* text : {"$A", "$B"}) {
      std::vector<std::string> parts = {text};
      if (files.config.Get("add_bos_token", false).Bool()) parts.insert(parts.begin(), files.Special("bos_token", end));
      if (files.config.Get("add_eos_token", false).Bool()) parts.push_back(files.Special("eos_token", end));
      if (single.empty()) single = parts;
      pair.insert(pair.end(), parts.begin(), parts.end());
    }
    if (single.size() > 1)
      processor = TemplateProcessorJson(single, pair, 1, [&](const std::string& token) {
        return static_cast<std::uint64_t>(IdOf(token, files, tokens));
      });
  } else if (files.family == TokenizerFamily::roberta) {
    tokens = files.Tokens();
    processor = SurroundJson("RobertaProcessing", files, tokens, files.Special("cls_token", "<s>"),
                             files.Special("sep_token", "</s>"));
    processor.Set("trim_offsets", files.config.Get("trim_offsets", true).Bool());
    processor.Set("add_prefix_space", prefix);
  } else {
    tokens = files.Tokens();
    processor = SurroundJson("BertProcessing", files, tokens, files.Special("cls_token", "[CLS]"),
                             files.Special("sep_token", "[SEP]"));
  }
  json.Set("post_processor", std::move(processor));
  json.Set("added_tokens", std::move(tokens.added));
  json.Set("model", BpeJson(std::move(files.vocabulary), std::move(merges)));
  return json;
}

Json ClipJson(Files files, Json::Array merges) {
  const std::string bos = files.Special("bos_token", "<|startoftext|>"),
                    eos = files.Special("eos_token", "<|endoftext|>");
  TokenTable tokens = files.Tokens();
  Json json = R"({"decoder": {"type": "ByteLevel"}})"_json;
  json.Set("added_tokens", std::move(tokens.added));
  json.Set("normalizer", SequenceJson("normalizers", {R"({"type": "NFC"})"_json, ReplaceJson("Regex", "\\s+", " "),
                                                      R"({"type": "Lowercase"})"_json}));
  Json split = R"({"type": "Split", "behavior": "Removed", "invert": true})"_json;
  split.Set("pattern", Json::Object{{"Regex", kClipWords}});
  json.Set("pre_tokenizer",
           SequenceJson("pretokenizers", {split, R"({"type": "ByteLevel", "add_prefix_space": false})"_json}));
  Json processor = SurroundJson("RobertaProcessing", files, tokens, bos, eos);
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
  const JsonView vocabulary = ReadJson(path);
  PiecesById(vocabulary);  // throws Error for invalid ids
  files.vocabulary = vocabulary.Object();
  Json::Array merges;
  for (const std::string& line : LinesOf(files.folder + "/merges.txt")) {
    if (!line.empty() && !line.starts_with("#version")) merges.emplace_back(line);
  }
  switch (files.family) {
    case TokenizerFamily::gpt1:
      return Gpt1Json(std::move(files), std::move(merges));
    case TokenizerFamily::gpt2:
    case TokenizerFamily::roberta:
    case TokenizerFamily::deberta:
      return ByteLevelJson(std::move(files), std::move(merges));
    case TokenizerFamily::clip:
      return ClipJson(std::move(files), std::move(merges));
    default:
      Fail(
          "{}: neither tokenizer_config.json (tokenizer_class) nor config.json (model_type) says which family it and "
          "merges.txt are of; known are those of GPT, GPT-2, RoBERTa, BART, DeBERTa and CLIP",
          path);
  }
}

std::optional<Json> TokenizerJson(Files files) {
  const std::string& folder = files.folder;
  if (const std::string path = folder + "/vocab.txt"; Exists(path)) {
    // If lines are equal, the id of the last line is used, as in Transformers. The ids of the earlier lines get a piece
    // that never occurs in a text.
    std::vector<std::string> lines = LinesOf(path);
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t id = 0; id < lines.size(); ++id) last[lines[id]] = id;
    for (std::size_t id = 0; id < lines.size(); ++id)
      files.vocabulary.push_back(
          {last[lines[id]] == id ? lines[id] : std::string(1, kReplaced) + std::to_string(id), id});
    if (files.family == TokenizerFamily::esm) return EsmJson(std::move(files));
    const bool bert = files.family == TokenizerFamily::bert || files.family == TokenizerFamily::unknown;
    Check(bert,
          "{}: without a tokenizer.json it must be that of BERT or ESM, but the folder declares another tokenizer",
          path);
    return BertJson(std::move(files));
  }
  if (Exists(folder + "/vocab.json") && Exists(folder + "/merges.txt")) return FromMerges(std::move(files));
  return TokenizerJsonOfSentencePiece(files);
}

// The residues in the order of their ids.
constexpr std::string_view kResidues = "LAGVSERTIDPKQNFYMHWCXBUZO.-";

}  // namespace

bool HasResidueTokens(const Tokenizer& tokenizer) {
  std::int32_t residues = 0;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    const std::string& piece = tokenizer.Piece(id);
    if (piece.size() == 1 && kResidues.find(piece[0]) != kResidues.npos)
      ++residues;
    else if (!piece.starts_with('<') || !piece.ends_with('>'))
      return false;
  }
  return residues > 0;
}

Json EsmTokenizerJson() {
  Files files{{"ESM's tokenizer", {Json::Object{}, ""}, {Json::Object{}, ""}, TokenizerFamily::esm}, {}};
  const auto add = [&](std::string piece) { files.vocabulary.push_back({std::move(piece), files.vocabulary.size()}); };
  for (const char* special : {"<cls>", "<pad>", "<eos>", "<unk>"}) add(special);
  for (const char residue : kResidues) add(std::string(1, residue));
  for (const char* special : {"<null_1>", "<mask>"}) add(special);
  return EsmJson(std::move(files));
}

std::optional<Json> OlderTokenizerJson(const std::string& folder) {
  return TokenizerJson({ReadTokenizerSettings(folder), {}});
}

std::optional<PipelineState> LoadOlderTokenizer(const std::string& folder) {
  Files files{ReadTokenizerSettings(folder), {}};
  const TokenizerSettings settings = files;
  std::optional<Json> json = TokenizerJson(std::move(files));
  if (!json) return std::nullopt;
  std::string source;
  for (const char* name : {"vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "spm.model"})
    if (source.empty() && Exists(folder + "/" + name)) source = folder + "/" + name;
  PipelineState state = MakePipelineState(JsonView(std::move(*json), source), ScoresAre::exact, &settings);
  if (settings.family == TokenizerFamily::siglip) {
    const SentencePieceModel model = ParseSentencePieceModel(ReadFile(source, kLargestOlderFile), source);
    state.siglip.emplace(model, source, settings.config.Get("do_lower_case", true).Bool(),
                         settings.Special("unk_token", "<unk>"));
    NormalizedText before = NormalizedText({}, {0, 0});
    (*state.siglip)(before, false);
    std::vector<Segment> segments;
    state.model(before.text, segments);
    state.model = WithoutSegments(std::ssize(segments), std::move(state.model));
  }
  return state;
}

bool ReadsModelFirst(const std::string& folder) {
  return Exists(folder + "/spiece.model") && ReadsModelFirst(ReadTokenizerSettings(folder));
}

}  // namespace headlight
