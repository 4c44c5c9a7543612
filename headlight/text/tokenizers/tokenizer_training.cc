#include "headlight/text/tokenizers/tokenizer_training.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/text/tokenizers/byte_pair_training.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"
#include "headlight/text/tokenizers/tokenizer_json.h"
#include "headlight/text/tokenizers/unigram_training.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

using Algorithm = TokenizerAlgorithm;

constexpr std::size_t kLinesAtOnce = 8192;
constexpr std::int64_t kTasks = 16;
constexpr std::size_t kBytesPerWord = 64;  // memory of a hash table entry, in addition to the text
constexpr std::int32_t kMostTokens = 1 << 22;
// The maximum length in bytes. Longer lines are divided.
constexpr std::size_t kLongestLine = std::size_t{1} << 16;

bool Has(const std::vector<std::string>& special, const char* token) {
  return std::find(special.begin(), special.end(), token) != special.end();
}

// Returns the unknown token, or an empty text for byte-level BPE.
std::string Unknown(const TokenizerTrainingOptions& options, const std::vector<std::string>& special) {
  if (options.byte_level) return "";
  for (const char* token : {"<unk>", "[UNK]"})
    if (Has(special, token)) return token;
  Fail("the special tokens must have an unknown token: <unk> or [UNK]");
}

void CheckOptions(const TokenizerTrainingOptions& options, const std::vector<std::string>& special) {
  Check(options.size >= 1 && options.size <= kMostTokens, "`vocabulary_size` must be from 1 to {1}, not {0}",
        options.size, kMostTokens);
  Check(!options.byte_level || options.algorithm == Algorithm::bpe, "only BPE can be byte-level");
  Check(!options.nfkc || options.byte_level || options.algorithm == Algorithm::wordpiece,
        "BPE of characters and unigram always apply NFKC: leave out `nfkc`");
  std::unordered_set<std::string> seen;
  for (const std::string& token : special) {
    CheckUtf8(token, "special token");
    Check(!token.empty(), "a special token is empty");
    Check(seen.insert(token).second, "the special token {} is given twice", token);
  }
}

// Builds the normalizer. NFKC is omitted if the other steps need no normal form. StripAccents finds marks only in
// decomposed text.
Json NormalizerJson(const TokenizerTrainingOptions& options) {
  const auto step = [](const char* type) { return Json(Json::Object{{"type", type}}); };
  std::vector<Json> steps;
  if (options.algorithm == Algorithm::wordpiece) {
    if (options.nfkc) steps.push_back(step("NFKC"));
    Json bert = R"({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true})"_json;
    bert.Set("strip_accents", options.strip_accents);
    bert.Set("lowercase", options.lowercase);
    steps.push_back(std::move(bert));
  } else {
    const bool compatible = options.nfkc || !options.byte_level;
    if (options.strip_accents) steps = {step(compatible ? "NFKD" : "NFD"), step("StripAccents")};
    if (compatible || options.strip_accents) steps.push_back(step(compatible ? "NFKC" : "NFC"));
    if (options.lowercase) steps.push_back(step("Lowercase"));
  }
  if (steps.empty()) return {};
  return steps.size() == 1 ? steps.front() : SequenceJson("normalizers", std::move(steps));
}

// Returns the content of tokenizer.json for `model`, which has "vocab" and, for BPE, "merges".
Json FileJson(const TokenizerTrainingOptions& options, const std::vector<std::string>& special, Json model) {
  const std::string unknown = Unknown(options, special);
  const auto id_of = [&](const std::string& token) {
    return static_cast<std::uint64_t>(std::find(special.begin(), special.end(), token) - special.begin());
  };
  Json::Array added;
  for (const std::string& token : special) added.push_back(AddedTokenJson(added.size(), token));
  Json normalizer = NormalizerJson(options), words, processor, decoder;
  if (options.byte_level) {
    words = decoder = processor =
        R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": true})"_json;
  } else if (options.algorithm == Algorithm::wordpiece) {
    words = R"({"type": "BertPreTokenizer"})"_json;
    decoder = R"({"type": "WordPiece", "prefix": "##", "cleanup": true})"_json;
  } else {
    words = decoder =
        R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": true})"_json;
  }
  if (options.split_digits) {
    Json digits = R"({"type": "Digits", "individual_digits": true})"_json;
    // After ByteLevel, Digits would process byte-level characters instead of the text. Before Metaspace, Digits would
    // cause a space before each digit.
    if (!options.byte_level) std::swap(digits, words);
    words = SequenceJson("pretokenizers", {std::move(digits), std::move(words)});
  }
  if (Has(special, "[CLS]") && Has(special, "[SEP]")) {
    processor = TemplateProcessorJson({"[CLS]", "$A", "[SEP]"}, {"[CLS]", "$A", "[SEP]", "$B", "[SEP]"}, 1, id_of);
  } else if (Has(special, "</s>")) {
    processor = TemplateProcessorJson({"$A", "</s>"}, {"$A", "</s>", "$B", "</s>"}, 0, id_of);
  }
  if (options.algorithm == Algorithm::wordpiece) {
    model.Set("type", "WordPiece");
    model.Set("continuing_subword_prefix", "##");
    model.Set("max_input_chars_per_word", 100);
  } else if (options.algorithm == Algorithm::bpe) {
    model.Set("type", "BPE");
    for (const char* none : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) model.Set(none, Json());
    model.Set("fuse_unk", !options.byte_level);
    model.Set("byte_fallback", false);
    model.Set("ignore_merges", false);
  } else {
    model.Set("type", "Unigram");
    model.Set("unk_id", id_of(unknown));
    model.Set("byte_fallback", false);
  }
  if (options.algorithm != Algorithm::unigram) model.Set("unk_token", unknown.empty() ? Json() : Json(unknown));
  Json file = R"({"version": "1.0", "truncation": null, "padding": null})"_json;
  file.Set("added_tokens", std::move(added));
  file.Set("normalizer", std::move(normalizer));
  file.Set("pre_tokenizer", std::move(words));
  file.Set("post_processor", std::move(processor));
  file.Set("decoder", std::move(decoder));
  file.Set("model", std::move(model));
  return file;
}

// Counts the distinct words of the training lines.
class WordCounts {
 public:
  WordCounts(const PipelineState& state, std::size_t most_bytes) : state_(state), most_bytes_(most_bytes) {}

  void Add(const std::vector<std::string>& lines) {
    std::vector<std::unordered_map<std::string, std::int64_t>> counts(kTasks);
    const auto size = static_cast<std::int64_t>(lines.size());
    ParallelFor(kTasks, [&](std::int64_t task) {
      for (std::int64_t i = task * size / kTasks; i < (task + 1) * size / kTasks; ++i) Count(lines[i], counts[task]);
    });
    for (const auto& part : counts) {
      for (const auto& [word, count] : part) {
        const auto [found, is_new] = counts_.try_emplace(word, 0);
        if (is_new) bytes_ += word.size() + kBytesPerWord;
        found->second += count;
      }
    }
    for (std::int64_t count = 1; bytes_ > most_bytes_; ++count) DropUpTo(count);
  }

  // Returns the words sorted by text. If the model's symbols are bytes, words are written as byte-level pieces.
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
    headlight::Words words{std::move(text), {}};
    words.words = {{0, words.text.size()}};
    if (words.text.text.empty()) return;
    for (const PreTokenizer& pre_tokenize : state_.pre_tokenizers) pre_tokenize(words);
    for (const TextSpan word : words.words) ++counts[words.text.text.substr(word.begin, word.end - word.begin)];
  }

  // Drops the words whose count is at most `count`.
  void DropUpTo(std::int64_t count) {
    std::erase_if(counts_, [&](const auto& entry) {
      if (entry.second > count) return false;
      bytes_ -= entry.first.size() + kBytesPerWord;
      return true;
    });
  }

  const PipelineState& state_;
  std::size_t most_bytes_, bytes_ = 0;
  std::unordered_map<std::string, std::int64_t> counts_;
};

std::vector<CountedWord> ReadWords(const std::function<bool(std::string_view& line)>& next, const PipelineState& state,
                                   std::size_t most_bytes, const TokenizerTrainingProgress& progress) {
  WordCounts counts(state, most_bytes);
  std::vector<std::string> lines;
  std::int64_t number = 0;
  bool any = false;
  for (std::string_view line; next(line);) {
    CheckUtf8(line, fmt::format("line {}", ++number));
    any = any || line.find_first_not_of(" \t\r\n") != std::string_view::npos;
    ForEachPart(line, kLongestLine, [&](std::string_view part) { lines.emplace_back(part); });
    if (lines.size() < kLinesAtOnce) continue;
    counts.Add(lines);
    lines.clear();
    if (progress) progress("lines read", number, 0);
  }
  counts.Add(lines);
  std::vector<CountedWord> words = counts.Words();
  Check(any && !words.empty(), "there is no text to train a tokenizer on: {} lines, none with a word", number);
  return words;
}

std::size_t CountAlphabet(const std::vector<CountedWord>& words) {
  std::unordered_set<char32_t> alphabet;
  for (const CountedWord& word : words)
    ForEachCharacter(word.text, [&](char32_t character, std::size_t, std::size_t) { alphabet.insert(character); });
  return alphabet.size();
}

Json IdsJson(const std::vector<std::string>& pieces) {
  Json::Object ids;
  for (const std::string& piece : pieces) ids.push_back({piece, ids.size()});
  return ids;
}

// Trains the model's vocabulary and merges. Returns them in the form that FileJson expects.
Json Learn(const std::vector<CountedWord>& words, const TokenizerTrainingOptions& options,
           const std::vector<std::string>& special, const TokenizerTrainingProgress& progress) {
  const auto tell = [&](std::int64_t done, std::int64_t total) {
    if (progress) progress("pieces", done, total);
  };
  const auto size = static_cast<std::size_t>(options.size);
  const std::size_t alphabet = CountAlphabet(words);
  const auto check_size = [&](std::size_t least) {
    Check(size >= least, "`vocabulary_size` is {}, but this text's characters and the special tokens need {}", size,
          least);
  };
  Json model = Json::Object{};
  if (options.algorithm == Algorithm::unigram) {
    check_size(special.size() + alphabet);
    Json::Array vocabulary;
    for (const std::string& token : special) vocabulary.emplace_back(Json::Array{token, 0.0});
    for (const auto& [piece, score] : TrainUnigram(words, size - special.size(), tell))
      if (!Has(special, piece.c_str())) vocabulary.emplace_back(Json::Array{piece, score});
    model.Set("vocab", std::move(vocabulary));
    return model;
  }
  std::vector<std::string> first = special;
  if (options.byte_level) {
    std::vector<std::string> bytes;
    for (int byte = 0; byte < 256; ++byte) bytes.push_back(PieceOfBytes(std::string(1, static_cast<char>(byte))));
    std::sort(bytes.begin(), bytes.end());  // for UTF-8, this is the order of the code points
    first.insert(first.end(), bytes.begin(), bytes.end());
    check_size(first.size());
  } else {
    check_size(special.size() + alphabet);
  }
  const bool wordpiece = options.algorithm == Algorithm::wordpiece;
  const BytePairVocabulary learned = TrainBytePairs(words, std::move(first), size, wordpiece ? "##" : "", tell);
  model.Set("vocab", IdsJson(learned.pieces));
  if (wordpiece) return model;
  Json::Array merges;
  for (const auto& [left, right] : learned.merges) merges.emplace_back(std::vector{left, right});
  model.Set("merges", std::move(merges));
  return model;
}

// Returns a model with only the special tokens. A tokenizer with this model can already divide texts into words.
Json Unlearned(const TokenizerTrainingOptions& options, std::vector<std::string> special) {
  Json model = Json::Object{};
  if (options.algorithm == Algorithm::unigram) {
    Json::Array vocabulary;
    for (const std::string& token : special) vocabulary.emplace_back(Json::Array{token, 0.0});
    model.Set("vocab", std::move(vocabulary));
    return model;
  }
  special.push_back("a");  // a vocabulary must not be empty
  model.Set("vocab", IdsJson(special));
  if (options.algorithm == Algorithm::bpe) model.Set("merges", Json::Array());
  return model;
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
  // Divides the text into words with the rules of the tokenizer that is being trained.
  const PipelineState state = MakePipelineState(
      JsonView(FileJson(options, special, Unlearned(options, special)), "tokenizer"), ScoresAre::exact);
  const std::vector<CountedWord> words = ReadWords(next, state, options.most_bytes, progress);
  return FileJson(options, special, Learn(words, options, special, progress)).Line() + "\n";
}

}  // namespace headlight
