#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/data/lines.h"
#include "headlight/data/text_pairs.h"
#include "headlight/pipelines/read_at_once.h"
#include "headlight/pipelines/translator.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/evaluation_report.h"
#include "headlight/recipes/text_training.h"
#include "headlight/recipes/translation_metrics.h"
#include "headlight/text/metrics/rouge.h"
#include "headlight/text/metrics/text_groups.h"
#include "headlight/text/printable.h"
#include "headlight/text/tokenizers/tokenizer.h"
#include "headlight/train/objectives/teacher_forcing.h"

namespace headlight {
namespace {

struct Texts {
  std::vector<std::string> sources, references, places;  // `places`: locations of the sources, for errors
};

Texts ReadTestSet(const Evaluation& options) {
  Texts texts;
  if (options.reference.empty()) {
    for (TextPair& pair : ReadTextPairs(options.files, options.pairs)) {
      texts.sources.push_back(std::move(pair.source));
      texts.references.push_back(std::move(pair.target));
      texts.places.push_back(std::move(pair.location));
    }
    Check(!texts.sources.empty(), "{}: there is no pair in it", fmt::join(options.files, ", "));
    return texts;
  }
  const std::string& source = options.files.front();
  const auto read = [](const std::string& path, const std::string& column, TextsAsked asked) {
    return AllTexts(path, {.columns = {.text = column, .text_pair = {}, .label = {}}, .asked = asked});
  };
  texts.sources = read(source, options.pairs.source, TextsAsked::source);
  texts.references = read(options.reference, options.pairs.target, TextsAsked::reference);
  Check(!texts.sources.empty(), "{}: has no lines", source);
  Check(texts.sources.size() == texts.references.size(),
        "{} has {} lines and {} has {}: each source needs its reference", source, texts.sources.size(),
        options.reference, texts.references.size());
  for (std::size_t i = 0; i < texts.sources.size(); ++i)
    texts.places.push_back(fmt::format("{}: line {}", source, i + 1));
  return texts;
}

std::vector<std::string> WriteTexts(const Translator& translator, const Texts& texts, const Evaluation& options,
                                    const EvaluationObserver& observer) {
  constexpr std::size_t kLines = 512;  // lines between two progress reports
  const char* const progress = options.rouge ? "texts summarized" : "lines translated";
  Show(observer, progress);
  TranslateOptions translate = options.translate;
  std::vector<std::string> written;
  for (std::size_t begin = 0; begin < texts.sources.size(); begin += kLines) {
    const auto some = std::span(texts.sources).subspan(begin, std::min(kLines, texts.sources.size() - begin));
    translate.first_stream = begin;
    for (auto& candidates : translator.TranslateBatch(some, translate)) {
      if (!candidates.front().complete)
        Note(observer, fmt::format("{}: the {} reached the maximum length and may be incomplete",
                                   texts.places[written.size()], options.rouge ? "summary" : "translation"));
      written.push_back(OnOneLine(std::move(candidates.front().text)));
    }
    Show(observer, progress, std::ssize(written), std::ssize(texts.sources));
  }
  Show(observer, "");
  return written;
}

// Computes the loss of the references. Skips pairs with more tokens than the model has positions, and reports them in a
// note.
ReferenceLoss LossOf(const Translator& translator, const Texts& texts, const TranslateOptions& options,
                     const EvaluationObserver& observer) {
  const Tokenizer& tokenizer = translator.tokenizer();
  const std::int64_t positions = translator.model().limits().positions;
  std::vector<std::vector<std::int32_t>> sources, targets;
  for (std::size_t i = 0; i < texts.sources.size(); ++i) {
    std::vector<std::int32_t> source = translator.SourceIds(texts.sources[i], options), target = tokenizer.before();
    source.pop_back();  // the end token, which LossOfPairs adds
    const std::vector<std::int32_t> written = tokenizer.Encode(texts.references[i], Side::target);
    target.insert(target.end(), written.begin(), written.end());
    if (std::max(std::ssize(source), std::ssize(target)) >= positions) continue;  // one position is for the end token
    sources.push_back(std::move(source));
    targets.push_back(std::move(target));
  }
  if (const std::size_t too_long = texts.sources.size() - sources.size(); too_long > 0)
    Note(observer, fmt::format("{} pairs are too long for the model, and not in the loss", too_long));
  return LossOfPairs(translator.model(), sources, targets);
}

EvaluationResult ScoresOf(const std::vector<std::string>& written, const Texts& texts,
                          const std::vector<TranslationMetric>& metrics, const Evaluation& options) {
  EvaluationResult result;
  if (options.rouge) {
    result.scores = Json::Object{};
    const Rouge rouge = MeanRouge(written, texts.references, options.stemmer);
    for (const auto& [name, score] :
         {std::pair("1", &rouge.rouge1), {"2", &rouge.rouge2}, {"L", &rouge.rouge_l}, {"Lsum", &rouge.rouge_lsum}}) {
      result.text += fmt::format("ROUGE-{} {:.2f} (precision {:.2f}, recall {:.2f})\n", name, 100 * score->f1,
                                 100 * score->precision, 100 * score->recall);
      result.scores.Set(fmt::format("rouge{}", name), 100 * score->f1);
    }
    result.scores.Set("stemmer", options.stemmer);
    return result;
  }
  const std::vector<std::vector<std::string>> references = {texts.references};
  result.scores = Json::Object{};
  for (const TranslationMetric& metric : metrics) {
    const std::vector<double> sums = SumOfLines(StatisticsOfLines(metric, written, references));
    result.text += metric.text(sums) + "\n";
    result.scores.Set(metric.keys.name, metric.score(sums));
    result.scores.Set(metric.keys.signature, metric.signature);
  }
  return result;
}

// Adds the scores of each group of texts.
void AddGroupScores(const std::vector<std::string>& written, const Texts& texts, std::span<const std::string> known,
                    const std::vector<TranslationMetric>& metrics, const Evaluation& options,
                    EvaluationResult& result) {
  Json::Array groups;
  for (const TextGroup& group : GroupTexts(texts.sources, known)) {
    Texts some;
    std::vector<std::string> of_group;
    for (const std::size_t i : group.texts) {
      some.references.push_back(texts.references[i]);
      of_group.push_back(written[i]);
    }
    const Json all = ScoresOf(of_group, some, metrics, options).scores;
    Json json = Json::Object{{"by", group.by}, {"range", group.range}, {"lines", group.texts.size()}};
    result.text += fmt::format("{:12} {:18} {:>7} lines ", group.by, group.range, group.texts.size());
    for (const auto& [name, shown] : {std::pair("bleu", "BLEU"),
                                      {"chrf", "chrF2"},
                                      {"chrf++", "chrF2++"},
                                      {"ter", "TER"},
                                      {"rouge1", "ROUGE-1"},
                                      {"rouge2", "ROUGE-2"},
                                      {"rougeL", "ROUGE-L"}}) {
      const Json* const score = all.Find(name);
      if (score == nullptr) continue;
      result.text += fmt::format("  {} {:.2f}", shown, *score->As<double>());
      json.Set(name, *score);
    }
    result.text += '\n';
    groups.push_back(std::move(json));
  }
  result.scores.Set("groups", std::move(groups));
}

}  // namespace

EvaluationResult EvaluatePairs(const Evaluation& options, const EvaluationObserver& observer) {
  Check(options.reference.empty() || options.files.size() == 1,
        "{}: `reference` is for one FILE, the texts to read, not {}", options.folder, options.files.size());
  Check(!options.stemmer || options.rouge, "`stemmer` is for `rouge`");
  Check(!options.metrics.lowercase || !options.rouge, "`lowercase` is for BLEU and chrF; ROUGE has no case");
  const std::vector<TranslationMetric> metrics = MakeTranslationMetrics(options.metrics, 1);
  if (!options.out.empty()) const AtomicFile probe(options.out);  // throws Error if the file cannot be written
  Texts texts = ReadTestSet(options);
  std::vector<std::string> known;
  for (const std::string& path : options.train)
    for (std::string& line : AllTexts(path, {.asked = TextsAsked::source})) known.push_back(std::move(line));
  Check(options.train.empty() || !known.empty(), "`train` {}: has no lines", fmt::join(options.train, ", "));
  const Translator translator = Loaded(observer, [&] { return Translator::Load(options.folder, options.load); });
  Check(translator.tokenizer().after() == std::vector{translator.model().limits().end_id},
        "{}: the loss of a model whose texts end with more than one token is not supported", options.folder);
  std::int64_t truncated = 0;
  for (std::string& source : texts.sources)
    if (options.truncate && TruncateToRead(translator, source, options.translate)) ++truncated;
  if (truncated > 0) Note(observer, TruncatedNote(truncated));
  for (std::size_t i = 0; options.rouge && i < texts.sources.size(); ++i)
    CheckReadAtOnce(translator, texts.sources[i], options.translate, texts.places[i]);
  const std::vector<std::string> written = WriteTexts(translator, texts, options, observer);
  if (!options.out.empty()) {
    std::string lines;
    for (const std::string& text : written) lines += text + '\n';
    WriteFile(options.out, lines);
  }
  EvaluationResult result = ScoresOf(written, texts, metrics, options);
  if (!known.empty()) AddGroupScores(written, texts, known, metrics, options, result);
  const ReferenceLoss loss = LossOf(translator, texts, options.translate, observer);
  const double perplexity = std::exp(loss.mean());
  result.text +=
      fmt::format("loss {:.4f}, perplexity {:.3f} of {} target tokens\n", loss.mean(), perplexity, loss.tokens);
  result.scores.Set("task", "seq2seq");
  result.scores.Set("loss", NumberOrNull(loss.mean()));
  result.scores.Set("perplexity", NumberOrNull(perplexity));
  result.scores.Set("target_tokens", loss.tokens);
  result.scores.Set("lines", texts.sources.size());
  return result;
}

}  // namespace headlight
