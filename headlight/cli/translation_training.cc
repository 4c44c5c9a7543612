#include "headlight/cli/translation_training.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/base/in_file.h"
#include "headlight/cli/training_folder.h"
#include "headlight/cli/training_options.h"
#include "headlight/cli/training_run.h"
#include "headlight/data/lines.h"
#include "headlight/train/checkpoint.h"

namespace headlight {
namespace {

std::int64_t CountLines(const std::string& path) {
  LineReader lines(path);
  while (lines.Next()) continue;
  return lines.line_number();
}

// Errors in the text are reported before anything is learned from it and written.
void CheckText(const std::string& source, const std::string& target) {
  const std::int64_t source_lines = CountLines(source), target_lines = CountLines(target);
  Check(source_lines == target_lines, "{} has {} lines, but {} has {}: each line needs its translation", source,
        source_lines, target, target_lines);
  Check(source_lines > 0, "{}: there is no line in it", source);
}

// The pairs of the training's texts that are held out. As in the corpus, what is empty or too long is left out.
TranslationValidation HoldOut(const TranslationTraining& settings, const MarianTokenizer& tokenizer) {
  TranslationValidation set;
  TextShare share = settings.corpus.share;
  share.held_out = true;
  LineReader sources(settings.train_source), targets(settings.train_target);
  for (auto source = sources.Next(), target = targets.Next(); source && target;
       source = sources.Next(), target = targets.Next()) {
    if (!share.Has(*source)) continue;
    std::vector<std::int32_t> source_ids = tokenizer.Encode(*source, Side::source);
    std::vector<std::int32_t> target_ids = tokenizer.Encode(*target, Side::target);
    const auto longest = static_cast<std::size_t>(settings.corpus.max_length);
    if (source_ids.empty() || target_ids.empty() || std::max(source_ids.size(), target_ids.size()) >= longest) continue;
    set.source_texts.emplace_back(*source);
    set.references.emplace_back(*target);
    set.sources.push_back(std::move(source_ids));
    set.targets.push_back(std::move(target_ids));
  }
  CheckNotEmpty(set.sources.size(), "pairs", {settings.train_source, settings.train_target}, share);
  set.decode = [tokenizer](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); };
  return set;
}

TranslationValidation ReadValidation(const TranslationTraining& settings, const MarianTokenizer& tokenizer) {
  if (settings.validate_split > 0) return HoldOut(settings, tokenizer);
  TranslationValidation set;
  set.source_texts = ReadLines(settings.valid_source);
  set.references = ReadLines(settings.valid_target);
  const auto encode = [&](const std::string& path, const std::vector<std::string>& texts, Side side) {
    std::vector<std::vector<std::int32_t>> ids;
    for (const std::string& text : texts) {
      ids.push_back(tokenizer.Encode(text, side));
      Check(static_cast<std::int64_t>(ids.back().size()) < settings.model.positions,
            "{}: line {} has {} tokens, more than the model's {} positions", path, ids.size(), ids.back().size() + 1,
            settings.model.positions);
    }
    return ids;
  };
  set.sources = encode(settings.valid_source, set.source_texts, Side::source);
  set.targets = encode(settings.valid_target, set.references, Side::target);
  const auto is_empty = [](const std::vector<std::int32_t>& ids) { return ids.empty(); };
  Check(!std::ranges::all_of(set.sources, is_empty), "{}: there is no text in it", settings.valid_source);
  Check(!std::ranges::all_of(set.targets, is_empty), "{}: there is no text in it", settings.valid_target);
  set.decode = [tokenizer](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); };
  return set;
}

Json TranslationRunOf(const TranslationTraining& settings, const Corpus& corpus) {
  const TransformerConfig& model = settings.model;
  Json of = Json::Object{{"corpus_hash", fmt::format("{:016x}", corpus.hash())},
                         {"layers", model.encoder_layers},
                         {"model_dim", model.model},
                         {"heads", model.encoder_heads},
                         {"ffn_dim", model.encoder_ffn},
                         {"norm", model.norm == NormPlace::post ? "post" : "pre"},
                         {"activation", static_cast<int>(model.activation)},
                         {"dropout", model.dropout},
                         {"attention_dropout", model.attention_dropout},
                         {"tie_source_target", model.tie_source_target},
                         {"tie_output", model.tie_output},
                         {"positions", model.positions},
                         {"vocabulary_size", settings.vocabulary.size},
                         {"vocabulary", static_cast<int>(settings.vocabulary.algorithm)},
                         {"bpe_dropout", settings.bpe_dropout},
                         {"batch_tokens", settings.teacher_forcing.batches.batch_tokens},
                         {"label_smoothing", settings.teacher_forcing.label_smoothing}};
  if (model.decoder_layers != model.encoder_layers) of.Set("decoder_layers", model.decoder_layers);
  SetRDrop(settings.teacher_forcing, of);
  return of;
}

void SaveModel(const Transformer& model, const MarianTokenizer& tokenizer, const std::string& folder) {
  tokenizer.Save(folder, model.config().positions);
  model.Save(folder);
}

}  // namespace

MarianTokenizer LearnVocabulary(const std::string& source, const std::string& target,
                                const VocabularyOptions& options) {
  LineReader source_lines(source), target_lines(target);
  bool of_source = true;
  const auto next_line = [&](std::string_view& line) {
    std::optional<std::string_view> next = of_source ? source_lines.Next() : target_lines.Next();
    if (!next && of_source) {
      of_source = false;
      next = target_lines.Next();
    }
    if (next) line = *next;
    return next.has_value();
  };
  return InFiles({source, target}, [&] { return TrainVocabulary(next_line, options); });
}

TrainingResult TrainTranslation(const TranslationTraining& given) {
  TranslationTraining settings = given;
  settings.model.positions = std::max(settings.model.positions, std::int64_t{settings.corpus.max_length} + 1);
  const bool splits = settings.validate_split > 0;
  settings.corpus.share = {settings.validate_split, settings.training.seed, false};
  CheckNoPipe({settings.train_source, settings.train_target, settings.valid_source, settings.valid_target});
  CheckReadable({settings.train_source, settings.train_target});
  if (!splits) CheckReadable({settings.valid_source, settings.valid_target});
  const TrainingFolder held(settings.out, settings.resume);
  CheckText(settings.train_source, settings.train_target);
  if (!splits) CheckText(settings.valid_source, settings.valid_target);

  TrainingProgress progress(settings.quiet);
  const std::string vocabulary = settings.out + "/source.spm", cache = settings.out + "/corpus.cache";
  const bool learned = HasCheckpoint(CheckpointOf(settings.out));  // else it may be half of one, or of other settings
  if (!learned)
    held.Prepare([&] {
      progress.Note(fmt::format("learning a vocabulary of {} from {} and {}", settings.vocabulary.size,
                                settings.train_source, settings.train_target));
      LearnVocabulary(settings.train_source, settings.train_target, settings.vocabulary)
          .Save(settings.out, settings.model.positions);
    });
  const MarianTokenizer tokenizer = MarianTokenizer::Load(settings.out);
  settings.model.source_vocabulary = settings.model.target_vocabulary = tokenizer.size();
  settings.model.start_id = settings.model.pad_id = tokenizer.pad();
  settings.model.end_id = tokenizer.eos();

  settings.corpus.keep_text = settings.bpe_dropout > 0;
  const Corpus corpus(
      {settings.train_source, settings.train_target, cache},
      [&](std::string_view text, Side side) { return tokenizer.Encode(text, side); },
      HashOf(MappedFile(vocabulary).text()), settings.corpus);
  const CorpusCounts& counts = corpus.counts();
  progress.Note(
      fmt::format("{} pairs of {}: {} empty, {} longer than {} tokens and {} lopsided ones are left out; {} source "
                  "and {} target tokens",
                  counts.kept, counts.lines, counts.empty, counts.over_long, settings.corpus.max_length,
                  counts.lopsided, counts.source_tokens, counts.target_tokens));
  const TranslationValidation validation = ReadValidation(settings, tokenizer);
  if (splits) progress.Note(fmt::format("{} pairs are held out to validate on", validation.sources.size()));

  Transformer model(settings.model);
  model.parameters().Initialise(settings.training.seed);

  settings.teacher_forcing.batches.seed = settings.training.seed;
  PairOptions pairs{.start_id = settings.model.start_id, .eos_id = settings.model.end_id};
  if (settings.bpe_dropout > 0)
    pairs.sample = [&](std::string_view text, Side side, Random& random) {
      return tokenizer.EncodeSampled(text, random, settings.bpe_dropout, side);
    };

  return RunTraining(
      TranslationTask(model, corpus, pairs, validation, settings.teacher_forcing), settings.training,
      {.out = settings.out,
       .use = "headlight translate",
       .of = TranslationRunOf(settings, corpus),
       .validation = splits ? std::vector<std::string>() : std::vector{settings.valid_source, settings.valid_target},
       .command = settings.command,
       .save = [&](const std::string& folder) { SaveModel(model, tokenizer, folder); },
       .compute = settings.compute,
       .resume = settings.resume,
       .profile = settings.profile,
       .longest_warmup = 4000},
      progress);
}

}  // namespace headlight
