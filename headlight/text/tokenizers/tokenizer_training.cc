#include "headlight/text/tokenizers/tokenizer_training.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "headlight/base/parallel.h"
#include "headlight/text/tokenizers/byte_pair_training.h"
#include "headlight/text/tokenizers/json_part-inl.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"
#include "headlight/text/tokenizers/tokenizer_state.h"
#include "headlight/text/tokenizers/unigram_training.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

using Json = nlohmann::json;
using Algorithm = TokenizerAlgorithm;

constexpr std::size_t kLinesAtOnce = 8192;
constexpr std::int64_t kTasks = 16;
constexpr std::size_t kBytesOfAWord = 64;  // about what a table takes for each, besides its text
constexpr std::int32_t kMostTokens = 1 << 22;
// A longer line is learned from in parts.
constexpr std::size_t kLongestLine = std::size_t{1} << 16;

bool Has(const std::vector<std::string>& special, const char* token) {
  return std::find(special.begin(), special.end(), token) != special.end();
}

// The token of what is unknown, empty where nothing is.
std::string Unknown(const TokenizerTrainingOptions& options, const std::vector<std::string>& special) {
  if (options.byte_level) return "";
  for (const char* token : {"<unk>", "[UNK]"})
    if (Has(special, token)) return token;
  Fail("among the special tokens there must be one for what is unknown: <unk> or [UNK]");
}

void CheckOptions(const TokenizerTrainingOptions& options, const std::vector<std::string>& special) {
  Check(options.size >= 1 && options.size <= kMostTokens, "the vocabulary size is {}, it must be from 1 to {}",
        options.size, kMostTokens);
  Check(!options.byte_level || options.algorithm == Algorithm::bpe, "only BPE can be byte-level");
  std::unordered_set<std::string> seen;
  for (const std::string& token : special) {
    CheckUtf8(token, "special token");
    Check(!token.empty(), "a special token is empty");
    Check(seen.insert(token).second, "the special token {} is given twice", token);
  }
}

// The whole file but for the model's pieces.
Json FileWithoutPieces(const TokenizerTrainingOptions& options, const std::vector<std::string>& special) {
  const std::string unknown = Unknown(options, special);
  Json added = Json::array();
  for (std::size_t id = 0; id < special.size(); ++id) {
    added.push_back({{"id", id},
                     {"content", special[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  Json file = {{"version", "1.0"},      {"truncation", nullptr},    {"padding", nullptr},       {"added_tokens", added},
               {"normalizer", nullptr}, {"pre_tokenizer", nullptr}, {"post_processor", nullptr}};
  const auto id_of = [&](const std::string& token) {
    return static_cast<std::size_t>(std::find(special.begin(), special.end(), token) - special.begin());
  };
  const auto model = [&](const char* type, const Json& more) {
    file["model"] = {{"type", type}};
    file["model"].update(more);
  };
  const Json no_bpe_extras = {{"dropout", nullptr},
                              {"continuing_subword_prefix", nullptr},
                              {"end_of_word_suffix", nullptr},
                              {"fuse_unk", !options.byte_level},
                              {"byte_fallback", false},
                              {"ignore_merges", false},
                              {"unk_token", unknown.empty() ? Json() : Json(unknown)}};
  if (options.byte_level) {
    const Json level = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", true}};
    file["pre_tokenizer"] = file["decoder"] = level;
    if (special.empty() || !Has(special, "</s>")) file["post_processor"] = level;
    model("BPE", no_bpe_extras);
  } else if (options.algorithm == Algorithm::wordpiece) {
    file["normalizer"] = {{"type", "BertNormalizer"},
                          {"clean_text", true},
                          {"handle_chinese_chars", true},
                          {"strip_accents", nullptr},
                          {"lowercase", false}};
    file["pre_tokenizer"] = Json::object({{"type", "BertPreTokenizer"}});
    file["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
    model("WordPiece",
          {{"unk_token", unknown}, {"continuing_subword_prefix", "##"}, {"max_input_chars_per_word", 100}});
  } else {
    const Json metaspace = {
        {"type", "Metaspace"}, {"replacement", kSpaceSymbol}, {"prepend_scheme", "always"}, {"split", true}};
    file["normalizer"] = Json::object({{"type", "NFKC"}});
    file["pre_tokenizer"] = file["decoder"] = metaspace;
    if (options.algorithm == Algorithm::bpe) {
      model("BPE", no_bpe_extras);
    } else {
      model("Unigram", {{"unk_id", id_of(unknown)}, {"byte_fallback", false}});
    }
  }
  if (options.split_digits) {
    const Json digits = {{"type", "Digits"}, {"individual_digits", true}};
    const Json other = file["pre_tokenizer"];
    // What follows ByteLevel would see its characters for bytes; Metaspace would put a space before each word of these.
    file["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers", options.byte_level ? Json::array({digits, other}) : Json::array({other, digits})}};
  }
  const auto text = [](const char* id, int type) { return Json{{"Sequence", {{"id", id}, {"type_id", type}}}}; };
  const auto token = [](const char* id, int type) { return Json{{"SpecialToken", {{"id", id}, {"type_id", type}}}}; };
  const auto surround = [&](const Json& single, const Json& pair, const std::vector<const char*>& tokens) {
    Json used = Json::object();
    for (const char* name : tokens)
      used[name] = {{"id", name}, {"ids", Json::array({id_of(name)})}, {"tokens", Json::array({name})}};
    file["post_processor"] = {
        {"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", used}};
  };
  if (Has(special, "[CLS]") && Has(special, "[SEP]")) {
    surround(Json::array({token("[CLS]", 0), text("A", 0), token("[SEP]", 0)}),
             Json::array({token("[CLS]", 0), text("A", 0), token("[SEP]", 0), text("B", 1), token("[SEP]", 1)}),
             {"[CLS]", "[SEP]"});
  } else if (Has(special, "</s>")) {
    surround(Json::array({text("A", 0), token("</s>", 0)}),
             Json::array({text("A", 0), token("</s>", 0), text("B", 0), token("</s>", 0)}), {"</s>"});
  }
  return file;
}

// The words of lines, and how often each is there.
class WordCounts {
 public:
  WordCounts(const TokenizerState& state, std::size_t most_bytes) : state_(state), most_bytes_(most_bytes) {}

  void Add(const std::vector<std::string>& lines) {
    std::vector<std::unordered_map<std::string, std::int64_t>> counts(kTasks);
    const auto size = static_cast<std::int64_t>(lines.size());
    ParallelFor(kTasks, [&](std::int64_t task) {
      for (std::int64_t i = task * size / kTasks; i < (task + 1) * size / kTasks; ++i) Count(lines[i], counts[task]);
    });
    for (const auto& part : counts) {
      for (const auto& [word, count] : part) {
        const auto [found, is_new] = counts_.try_emplace(word, 0);
        if (is_new) bytes_ += word.size() + kBytesOfAWord;
        found->second += count;
      }
    }
    for (std::int64_t rare = 1; bytes_ > most_bytes_; ++rare) Forget(rare);
  }

  // In the order of their texts; bytes are spelled as characters where the model cuts bytes.
  std::vector<CountedWord> Words() const {
    std::vector<CountedWord> words;
    for (const auto& [word, count] : counts_) words.push_back({state_.byte_level ? PieceOfBytes(word) : word, count});
    std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.text < b.text; });
    return words;
  }

 private:
  void Count(const std::string& line, std::unordered_map<std::string, std::int64_t>& counts) const {
    NormalizedText text(line, {0, static_cast<std::int32_t>(line.size())});
    for (const Normalizer& normalize : state_.normalizers) normalize(text);
    Words_ words{std::move(text), {}};
    words.words = {{0, words.text.size()}};
    if (words.text.text.empty()) return;
    for (const PreTokenizer& pre_tokenize : state_.pre_tokenizers) pre_tokenize(words);
    for (const TextSpan word : words.words) ++counts[words.text.text.substr(word.begin, word.end - word.begin)];
  }

  // The words that are there so seldom.
  void Forget(std::int64_t rare) {
    std::erase_if(counts_, [&](const auto& entry) {
      if (entry.second > rare) return false;
      bytes_ -= entry.first.size() + kBytesOfAWord;
      return true;
    });
  }

  using Words_ = headlight::Words;
  const TokenizerState& state_;
  std::size_t most_bytes_, bytes_ = 0;
  std::unordered_map<std::string, std::int64_t> counts_;
};

// Adds a line, in parts that end with a character.
void AddInParts(std::string_view line, std::vector<std::string>& lines) {
  while (line.size() > kLongestLine) {
    std::size_t cut = kLongestLine;
    while ((line[cut] & 0xC0) == 0x80) --cut;
    lines.emplace_back(line.substr(0, cut));
    line.remove_prefix(cut);
  }
  lines.emplace_back(line);
}

std::vector<CountedWord> ReadWords(const std::function<bool(std::string_view& line)>& next, const TokenizerState& state,
                                   std::size_t most_bytes, const TokenizerTrainingProgress& progress) {
  WordCounts counts(state, most_bytes);
  std::vector<std::string> lines;
  std::int64_t number = 0;
  for (std::string_view line; next(line);) {
    CheckUtf8(line, fmt::format("line {}", ++number));
    AddInParts(line, lines);
    if (lines.size() < kLinesAtOnce) continue;
    counts.Add(lines);
    lines.clear();
    if (progress) progress("lines read", number, 0);
  }
  counts.Add(lines);
  std::vector<CountedWord> words = counts.Words();
  Check(!words.empty(), "there is no text to learn a tokenizer from: {} lines, none with a word", number);
  return words;
}

std::size_t CountAlphabet(const std::vector<CountedWord>& words) {
  std::unordered_set<char32_t> alphabet;
  for (const CountedWord& word : words)
    ForEachCharacter(word.text, [&](char32_t character, std::size_t, std::size_t) { alphabet.insert(character); });
  return alphabet.size();
}

void SetPieces(const std::vector<CountedWord>& words, const TokenizerTrainingOptions& options,
               const std::vector<std::string>& special, const TokenizerTrainingProgress& progress, Json& model) {
  const auto tell = [&](std::int64_t done, std::int64_t total) {
    if (progress) progress("pieces", done, total);
  };
  const auto size = static_cast<std::size_t>(options.size);
  const std::size_t alphabet = CountAlphabet(words);
  const auto check_size = [&](std::size_t least) {
    Check(size >= least, "the vocabulary size is {}, less than this text's characters and the special tokens need: {}",
          size, least);
  };
  if (options.algorithm == Algorithm::unigram) {
    check_size(special.size() + alphabet);
    Json& vocabulary = model["vocab"] = Json::array();
    for (const std::string& token : special) vocabulary.push_back({token, 0.0});
    for (const auto& [piece, score] : TrainUnigram(words, size - special.size(), tell))
      if (!Has(special, piece.c_str())) vocabulary.push_back({piece, score});
    return;
  }
  std::vector<std::string> first = special;
  if (options.byte_level) {
    std::vector<std::string> bytes;
    for (int byte = 0; byte < 256; ++byte) bytes.push_back(PieceOfBytes(std::string(1, static_cast<char>(byte))));
    std::sort(bytes.begin(), bytes.end());  // of UTF-8 that is the characters' order
    first.insert(first.end(), bytes.begin(), bytes.end());
    check_size(first.size());
  } else {
    check_size(special.size() + alphabet);
  }
  const bool wordpiece = options.algorithm == Algorithm::wordpiece;
  const BytePairVocabulary learned = TrainBytePairs(words, std::move(first), size, wordpiece ? "##" : "", tell);
  Json& vocabulary = model["vocab"] = Json::object();
  for (std::size_t id = 0; id < learned.pieces.size(); ++id) vocabulary[learned.pieces[id]] = id;
  if (wordpiece) return;
  Json& merges = model["merges"] = Json::array();
  for (const auto& [left, right] : learned.merges) merges.push_back(Json::array({left, right}));
}

}  // namespace

std::vector<std::string> UsualSpecialTokens(const TokenizerTrainingOptions& options) {
  if (options.byte_level) return {"<|endoftext|>"};
  if (options.algorithm == Algorithm::wordpiece) return {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  return {"<pad>", "</s>", "<unk>"};
}

std::string TrainTokenizer(const std::function<bool(std::string_view& line)>& next,
                           const TokenizerTrainingOptions& options, const TokenizerTrainingProgress& progress) {
  const std::vector<std::string> special = options.special.empty() ? UsualSpecialTokens(options) : options.special;
  CheckOptions(options, special);
  Json file = FileWithoutPieces(options, special);
  // The tokenizer that cuts the text into words is the one that is being made, before it has pieces of them.
  const TokenizerState state = [&] {
    Json unlearned = file;
    Json& vocabulary = unlearned["model"]["vocab"];
    if (options.algorithm == Algorithm::unigram) {
      for (const std::string& token : special) vocabulary.push_back({token, 0.0});
    } else {
      vocabulary = {{"a", special.size()}};
      for (std::size_t id = 0; id < special.size(); ++id) vocabulary[special[id]] = id;
      unlearned["model"]["merges"] = Json::array();
      if (options.algorithm == Algorithm::wordpiece) unlearned["model"].erase("merges");
    }
    return MakeTokenizerState(unlearned, "tokenizer", ScoresAre::exact);
  }();
  const std::vector<CountedWord> words = ReadWords(next, state, options.most_bytes, progress);
  SetPieces(words, options, special, progress, file["model"]);
  return file.dump() + "\n";
}

}  // namespace headlight
