#include "headlight/cli/commands/translate_lines.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/lines.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/io/safetensors.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/pipelines/read_at_once.h"
#include "headlight/text/printable.h"

namespace headlight {
namespace {

constexpr std::size_t kMostAttentionBytes = std::size_t{1} << 31;

// The number of parameters above which float32 weights exceed the caches of small machines. Decoding a single text is
// then memory-bound.
constexpr std::int64_t kManyWeights = 8'000'000;

// Collects attention weights in memory, and writes them to a file with Write. Suitable for a few hundred sentences.
// Does nothing if the path is empty.
class AttentionFile {
 public:
  // Throws Error if the file cannot be written.
  explicit AttentionFile(std::string path) : path_(std::move(path)) {
    if (!path_.empty()) CheckWritable(path_);
  }

  // Adds tensors "SENTENCE.KIND.LAYER" with shape [heads, query, key]. The metadata "SENTENCE.source" and
  // "SENTENCE.target" contain the tokens as JSON arrays. Throws Error if the file would become too large.
  void Add(std::int64_t sentence, const AttentionRecord& record) {
    for (const AttentionMap& map : record.maps) {
      const std::vector<float>& weights = weights_.emplace_back(map.weights);
      bytes_ += weights.size() * sizeof(float);
      Check(bytes_ <= kMostAttentionBytes,
            "{}: the attention of the first {} lines has more than {} bytes; give fewer lines", path_, sentence + 1,
            kMostAttentionBytes);
      tensors_.push_back({fmt::format("{}.{}.{}", sentence, AttentionName(map.kind), map.layer),
                          StoredType::f32,
                          {map.heads, map.queries, map.keys},
                          std::as_bytes(std::span(weights))});
    }
    metadata_[fmt::format("{}.source", sentence)] = Json(record.source_tokens).Line();
    metadata_[fmt::format("{}.target", sentence)] = Json(record.target_tokens).Line();
  }
  void Write() const {
    if (!path_.empty()) WriteSafetensors(path_, tensors_, metadata_);
  }

 private:
  std::string path_;
  std::deque<std::vector<float>> weights_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_ = {{"format", "pt"}};
  std::size_t bytes_ = 0;
};

// Returns the log-probability of each word, summed over its tokens. The value is "-" if all tokens are from a target
// prefix.
std::string WordScores(const Translation& translation) {
  std::vector<std::optional<double>> scores(static_cast<std::size_t>(CountWords(translation.text)));
  for (const TranslatedToken& token : translation.token_scores)
    if (token.word >= 0 && token.log_probability) {
      std::optional<double>& score = scores.at(static_cast<std::size_t>(token.word));
      score = score.value_or(0) + *token.log_probability;
    }
  std::string text;
  for (const std::optional<double>& score : scores)
    text += (text.empty() ? "" : " ") + (score ? fmt::format("{:.4f}", *score) : "-");
  return text;
}

// Reads the target prefix of each line from a file that has as many lines as the input.
class TargetPrefixes {
 public:
  explicit TargetPrefixes(const LineTranslation& options) {
    if (options.target_prefixes.empty()) return;
    reader_.emplace(Input(options.target_prefixes));
  }

  // Sets the target prefixes of a batch. May be called again for a part of the same batch.
  void Read(const LineBatch& batch, TranslateOptions& options) {
    if (!reader_) return;
    for (; first_ < batch.first && !prefixes_.empty(); ++first_) prefixes_.pop_front();
    options.target_prefix.clear();
    for (std::size_t i = 0; i < batch.lines.size(); ++i) {
      const std::int64_t line = batch.first + static_cast<std::int64_t>(i);
      ReadUpTo(line);
      Check(reader_->line_number() >= line, "{}: it has {} lines, and none for {}", reader_->name(),
            reader_->line_number(), batch.name_of(i));
      options.target_prefix.push_back(prefixes_[static_cast<std::size_t>(line - first_)]);
    }
  }

  // Throws Error if the file has more than `lines` prefixes.
  void CheckAllRead(const std::string& input, std::int64_t lines) {
    if (!reader_) return;
    ReadUpTo(lines);
    Check(!reader_->Next(), "{}: it has more lines than {}, which has {}", reader_->name(),
          input == "-" ? "standard input" : input, lines);
  }

 private:
  void ReadUpTo(std::int64_t line) {
    while (reader_->line_number() < line)
      if (const std::optional<std::string_view> prefix = reader_->Next())
        prefixes_.emplace_back(*prefix);
      else
        return;
  }

  std::optional<LineReader> reader_;
  std::deque<std::string> prefixes_;
  std::int64_t first_ = 1;  // number of the line that the first prefix belongs to
};

std::string JsonRow(const Translation& translation, std::int64_t line, const TranslateOptions& options) {
  Json object = Json::Object{
      {"line", line}, {"text", translation.text}, {"score", translation.score}, {"complete", translation.complete}};
  if (options.alignment) {
    Json::Array pairs;
    for (const WordPair& pair : translation.alignment) pairs.push_back(Json::Array{pair.source, pair.target});
    object.Set("alignment", std::move(pairs));
  }
  if (options.token_scores) {
    Json::Array pieces, scores;
    for (const TranslatedToken& token : translation.token_scores) {
      pieces.emplace_back(token.piece);
      scores.emplace_back();
      if (token.log_probability) scores.back() = *token.log_probability;
    }
    object.Set("pieces", std::move(pieces));
    object.Set("log_probabilities", std::move(scores));
  }
  return object.Line() + '\n';
}

// Formats a translation as a row of text. If `numbered` is true, the row begins with the line number and the score.
// This format is used for several translations per line.
std::string TextRow(const Translation& translation, std::int64_t line, const TranslateOptions& options, bool numbered) {
  std::string row;
  if (numbered) row = fmt::format("{}\t{:.6f}\t", line, translation.score);
  row += OnOneLine(translation.text);
  if (options.alignment) {
    row += '\t';
    for (const WordPair& pair : translation.alignment)
      row += fmt::format("{}{}-{}", row.ends_with('\t') ? "" : " ", pair.source, pair.target);
  }
  if (options.token_scores) row += '\t' + WordScores(translation);
  return row + '\n';
}

// Returns true if --draft would translate lines that arrive one at a time faster, with the same result.
bool DraftHelps(const Translator& translator, const LineTranslation& options) {
  const TranslateOptions& asked = options.translate;
  const bool greedy = asked.beam_size == 1 && !asked.sample && !asked.temperature && !asked.top_k && !asked.top_p &&
                      !asked.repetition_penalty && !asked.no_repeat_ngram_size;
  return greedy && !options.load.draft && options.load.compute.value_or(Compute::float32) == Compute::float32 &&
         translator.model().parameters().count() >= kManyWeights;
}

// Returns the texts of a batch, truncated to the number of tokens that the model supports.
std::vector<std::string> Truncated(const Translator& translator, const LineBatch& batch,
                                   const TranslateOptions& options) {
  std::vector<std::string> texts(batch.lines.begin(), batch.lines.end());
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (TruncateToRead(translator, texts[i], options))
      NoteTruncated(batch.name_of(i), translator.model().limits().positions);
  return texts;
}

void Warn(const Translation& best, const std::string& location, std::int64_t positions,
          const LineTranslation& options) {
  if (best.parts > 1)
    Note("{}: {} tokens are more than the model's {} positions: translated in {} parts{}", location, best.tokens,
         positions, best.parts, !options.attention_file.empty() ? ", without keeping their attention" : "");
  if (!best.complete)
    Note("{}: the {} reached the maximum length and may be incomplete", location,
         options.summarize ? "summary" : "translation");
}

}  // namespace

void TranslateLines(const LineTranslation& options) {
  std::vector<std::string> inputs = {options.folder, options.input};
  if (!options.target_prefixes.empty()) inputs.push_back(options.target_prefixes);
  CheckOutputs({{"--output-attentions", options.attention_file}}, inputs);
  const Translator translator = Loaded([&] { return Translator::Load(options.folder, options.load); });
  TranslateOptions translate = options.translate;
  translate.attention = !options.attention_file.empty();
  translator.TranslateBatch({}, translate);  // checks the options before any input is read
  const bool numbered = translator.n_best(translate) > 1;
  AttentionFile attention(options.attention_file);
  TargetPrefixes prefixes(options);
  // Read enough lines for eight batches in advance, so that DecodeInBatches can group lines of equal length.
  const std::size_t ahead = BytesAhead(translate.batch_tokens);
  std::int64_t alone = 0;  // number of batches with one line
  const auto rows = [&](const LineBatch& batch) {
    if (batch.lines.size() == 1) ++alone;
    std::span<const std::string> texts = batch.lines;
    std::vector<std::string> truncated;
    if (options.truncate) texts = truncated = Truncated(translator, batch, translate);
    for (std::size_t i = 0; options.summarize && i < texts.size(); ++i)
      CheckReadAtOnce(translator, texts[i], translate, batch.name_of(i));
    prefixes.Read(batch, translate);
    translate.first_stream = static_cast<std::uint64_t>(batch.first - 1);
    const auto translations = translator.TranslateBatch(texts, translate);
    std::vector<std::string> printed(translations.size());
    for (std::size_t i = 0; i < translations.size(); ++i) {
      const std::int64_t line = batch.first + static_cast<std::int64_t>(i);
      const Translation& best = translations[i].front();
      Warn(best, batch.name_of(i), translator.model().limits().positions, options);
      for (const Translation& translation : translations[i])
        printed[i] +=
            options.json ? JsonRow(translation, line, translate) : TextRow(translation, line, translate, numbered);
      if (best.attention) attention.Add(line - 1, *best.attention);
    }
    return printed;
  };
  const LineCount count = ForEachLineBatch(options, options.summarize ? "lines summarized" : "lines translated", ahead,
                                           rows, numbered ? "" : "\n");
  prefixes.CheckAllRead(options.input, count.lines);
  attention.Write();
  if (alone > 1 && alone == count.lines && DraftHelps(translator, options))
    Note("lines were translated one at a time; --draft gives the same text faster with a model of this size");
}

}  // namespace headlight
