#include "headlight/recipes/train_translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/base/in_file.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"
#include "headlight/recipes/text_training.h"
#include "headlight/recipes/training_folder.h"
#include "headlight/train/checkpoint.h"
#include "headlight/train/objectives/translation.h"

namespace headlight {
namespace {

// The defaults of the paper's base model (Vaswani et al., 2017, table 3).
constexpr TrainingDefaults kTranslationDefaults = {.sizes = {.model = 512, .ffn = 2048, .heads = 8, .layers = 6},
                                                   .dropout = 0.1,
                                                   .schedule = ScheduleKind::paper,
                                                   .learning_rate = 0,
                                                   .clip_norm = 0,
                                                   .longest_warmup = 4000};

// The longest default warm-up of the preset multi30k. A corpus of few steps gets a tenth of them.
constexpr std::int64_t kMulti30kWarmup = 1000;

const std::map<std::string, OptionValues> kTranslationPresets = {
    {"base", {}},
    // For corpora with tens of thousands of sentences. The settings were selected on the validation set of Multi30k.
    {"multi30k",
     {{"--layers", "3"},
      {"--model-dim", "256"},
      {"--heads", "4"},
      {"--ffn-dim", "512"},
      {"--dropout", "0.2"},
      {"--attention-dropout", "0.1"},
      {"--schedule", "cosine"},
      {"--learning-rate", "0.002"},
      {"--batch-tokens", "2500"},
      {"--epochs", "24"}}},
};

// Reads one side of the files in TranslationTraining.
SideReader SideOf(const std::vector<std::string>& files, Side side, const PairColumns& columns) {
  return {files[0], files.size() == 2 ? files[1] : "", side == Side::target, columns};
}

std::vector<std::string> TextsOf(const std::vector<std::string>& files, Side side, const PairColumns& columns) {
  std::vector<std::string> texts;
  SideReader reader = SideOf(files, side, columns);
  while (const auto text = reader.Next()) texts.emplace_back(*text);
  return texts;
}

std::int64_t CountLines(const std::vector<std::string>& files, Side side, const PairColumns& columns) {
  SideReader lines = SideOf(files, side, columns);
  while (lines.Next()) continue;
  return lines.number();
}

// Throws Error for unusable files, before a vocabulary is trained and written.
void CheckText(const std::vector<std::string>& files, const PairColumns& columns) {
  const std::int64_t source_lines = CountLines(files, Side::source, columns);
  if (files.size() == 2) {
    for (const std::string& file : files)
      Check(!HasRecords(file), "{}: has records, and in two files each line must be a text; give one file of pairs",
            file);
    const std::int64_t target_lines = CountLines(files, Side::target, columns);
    Check(source_lines == target_lines, "{} has {} lines, but {} has {}: each line needs its translation", files[0],
          source_lines, files[1], target_lines);
  }
  Check(source_lines > 0, "{}: there is no line in it", files[0]);
}

std::int64_t PositionsOf(const TranslationTraining& options) {
  return std::max(options.positions, std::int64_t{options.corpus.max_tokens} + 1);
}

// Returns the held-out pairs of the training texts. Empty and long pairs are skipped, as in the training corpus.
TranslationValidation HoldOut(const TranslationTraining& options, const MarianTokenizer& tokenizer) {
  TranslationValidation set;
  const TextShare share = options.validated();
  SideReader sources = SideOf(options.train, Side::source, options.columns);
  SideReader targets = SideOf(options.train, Side::target, options.columns);
  for (auto source = sources.Next(), target = targets.Next(); source && target;
       source = sources.Next(), target = targets.Next()) {
    if (!share.Has(*source)) continue;
    std::vector<std::int32_t> source_ids = tokenizer.Encode(*source, Side::source);
    std::vector<std::int32_t> target_ids = tokenizer.Encode(*target, Side::target);
    const auto longest = static_cast<std::size_t>(options.corpus.max_tokens);
    if (source_ids.empty() || target_ids.empty() || std::max(source_ids.size(), target_ids.size()) >= longest) continue;
    set.source_texts.emplace_back(*source);
    set.references.emplace_back(*target);
    set.sources.push_back(std::move(source_ids));
    set.targets.push_back(std::move(target_ids));
  }
  CheckNotEmpty(set.sources.size(), "pairs", options.train, share);
  set.decode = [tokenizer](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); };
  return set;
}

TranslationValidation ReadValidation(const TranslationTraining& options, const MarianTokenizer& tokenizer) {
  if (options.validate_split > 0) return HoldOut(options, tokenizer);
  TranslationValidation set;
  set.source_texts = TextsOf(options.valid, Side::source, options.columns);
  set.references = TextsOf(options.valid, Side::target, options.columns);
  const auto encode = [&](const std::string& path, const std::vector<std::string>& texts, Side side) {
    std::vector<std::vector<std::int32_t>> ids;
    for (const std::string& text : texts) {
      ids.push_back(tokenizer.Encode(text, side));
      Check(static_cast<std::int64_t>(ids.back().size()) < PositionsOf(options),
            "{}: line {} has {} tokens, more than the model's {} positions", path, ids.size(), ids.back().size() + 1,
            PositionsOf(options));
    }
    return ids;
  };
  set.sources = encode(options.valid[0], set.source_texts, Side::source);
  set.targets = encode(options.valid.back(), set.references, Side::target);
  const auto is_empty = [](const std::vector<std::int32_t>& ids) { return ids.empty(); };
  Check(!std::ranges::all_of(set.sources, is_empty), "{}: there is no text in it", options.valid[0]);
  Check(!std::ranges::all_of(set.targets, is_empty), "{}: there is no text in it", options.valid.back());
  set.decode = [tokenizer](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); };
  return set;
}

Json RunOf(const TranslationTraining& options, const TrainingPlan& plan, const TransformerConfig& model,
           const Corpus& corpus) {
  Json of = Json::Object{{"corpus_hash", fmt::format("{:016x}", corpus.hash())},
                         {"layers", model.encoder_layers},
                         {"model_dim", model.model},
                         {"heads", model.encoder_heads},
                         {"ffn_dim", model.encoder_ffn},
                         {"norm", model.norm == NormPosition::post ? "post" : "pre"},
                         {"activation", static_cast<int>(model.activation)},
                         {"dropout", model.dropout},
                         {"attention_dropout", model.attention_dropout},
                         {"tie_source_target", model.tie_source_target},
                         {"tie_output", model.tie_output},
                         {"positions", model.positions},
                         {"vocabulary_size", options.vocabulary.size},
                         {"vocabulary", static_cast<int>(options.vocabulary.algorithm)},
                         {"bpe_dropout", options.bpe_dropout},
                         {"batch_tokens", plan.batches.batch_size},
                         {"label_smoothing", options.teacher_forcing.label_smoothing}};
  if (model.decoder_layers != model.encoder_layers) of.Set("decoder_layers", model.decoder_layers);
  SetRDrop(options.teacher_forcing, of);
  return of;
}

void SaveModel(const Transformer& model, const MarianTokenizer& tokenizer, const std::string& folder) {
  tokenizer.Save(folder, model.config().positions);
  model.Save(folder);
}

// Returns the configuration without the vocabulary.
TransformerConfig ConfigOf(const TranslationTraining& options, const TrainingPlan& plan) {
  TransformerConfig config;
  config.model = plan.sizes.model;
  config.encoder_layers = plan.sizes.layers;
  config.decoder_layers = options.decoder_layers.value_or(plan.sizes.layers);
  config.encoder_heads = config.decoder_heads = plan.sizes.heads;
  config.encoder_ffn = config.decoder_ffn = plan.sizes.inner();
  config.activation = options.activation;
  config.norm = options.norm;
  config.dropout = plan.dropout;
  config.attention_dropout = plan.attention_dropout;
  config.tie_source_target = options.tie_source_target;
  config.tie_output = options.tie_output;
  config.positions = PositionsOf(options);
  return config;
}

}  // namespace

void Describe(OptionTable& table, TranslationTraining& options) {
  Describe(
      table, options, kTranslationDefaults,
      {.train = "Source and target text, plain or gzip, whose lines are pairs; or one file of pairs: a source, a tab "
                "and its target on each line, or .jsonl or .csv",
       .valid = "Source and target text to validate on, in the same formats"});
  table.Get("--warmup")
      .Default(fmt::format("{}, with `preset` multi30k {}, or a tenth of the steps if at most twice as many",
                           kTranslationDefaults.longest_warmup, kMulti30kWarmup));
  table.Get("--batch-tokens").Describe("Target tokens per batch");
  for (const char* files : {"--train", "--valid"}) table.Get(files).Type("SRC TGT|PAIRS");
  table
      .Add(
          "--preset", options.preset, OneOf({"base", "multi30k"}),
          "Settings to start from: the paper's base model, or one for tens of thousands of sentences (3 layers of 256, "
          "24 epochs)")
      .Type("base|multi30k");
  table.Get("--layers").Describe("Layers of the encoder and of the decoder");
  table.Get("--dropout").Describe("Dropout of embeddings and sublayers");
  table.Add("--decoder-layers", options.decoder_layers, Between(1, 1024), "Layers of the decoder")
      .Default("as `layers`")
      .Group(kModelGroup);
  AddChoice<NormPosition>(table, "--norm", options.norm, {{"post", NormPosition::post}, {"pre", NormPosition::pre}},
                          "LayerNorm after each sublayer, as in the paper, or before")
      .Group(kModelGroup);
  AddChoice<Activation>(table, "--activation", options.activation,
                        {{"relu", Activation::relu}, {"gelu", Activation::gelu}, {"silu", Activation::silu}},
                        "Activation of the feed-forward network")
      .Group(kModelGroup);
  const auto add_untied = [&](const char* name, bool& tied, const char* description) {
    table
        .AddFlag(
            name, [&tied] { tied = false; }, description)
        .Group(kModelGroup);
  };
  add_untied("--no-tie-source-target", options.tie_source_target, "Separate embeddings for source and target");
  add_untied("--no-tie-output", options.tie_output, "A separate matrix for the output layer, not the embeddings");

  const auto add = [&](const char* name, auto& value, const OptionCheck& check, const char* description) {
    table.Add(name, value, check, description).ShowDefault().Group("Text");
  };
  table
      .AddFunction(
          "--vocabulary-size",
          [&vocabulary = options.vocabulary](const std::string& value) {
            vocabulary.size = static_cast<std::int32_t>(IntegerOf(value).value_or(0));  // the check rejects 0
            vocabulary.exact = true;
          },
          "Subwords of both languages together; without this option fewer if the text allows no more")
      .Check(Between(1, 1 << 24))
      .Type("N")
      .Default(fmt::format("{}", options.vocabulary.size))
      .Group("Text");
  AddPairColumns(table, options.columns, "Text");
  AddChoice<SubwordAlgorithm>(table, "--subword-type", options.vocabulary.algorithm,
                              {{"bpe", SubwordAlgorithm::bpe}, {"unigram", SubwordAlgorithm::unigram}},
                              "Subword algorithm")
      .Group("Text");
  add("--bpe-dropout", options.bpe_dropout, NumberBelow(0, 1), "Probability that a merge is left out in training");
  add("--max-tokens", options.corpus.max_tokens, AtLeast(1),
      "Leave out sentences of more tokens; the model reads as many, and at least 511");
  add("--max-ratio", options.corpus.max_ratio, NumberFrom(1),
      "Leave out pairs whose lengths differ by a larger factor");
  AddLabelSmoothing(table, options.teacher_forcing.label_smoothing);
  AddRDrop(table, options.teacher_forcing);
}

MarianTokenizer LearnVocabulary(const std::vector<std::string>& files, const VocabularyOptions& options,
                                const PairColumns& columns) {
  SideReader source = SideOf(files, Side::source, columns), target = SideOf(files, Side::target, columns);
  bool of_source = true;
  const auto next_line = [&](std::string_view& line) {
    std::optional<std::string_view> next = of_source ? source.Next() : target.Next();
    if (!next && of_source) {
      of_source = false;
      next = target.Next();
    }
    if (next) line = *next;
    return next.has_value();
  };
  return InFiles(files, [&] { return TrainVocabulary(next_line, options); });
}

TrainingResult TrainTranslation(TranslationTraining options, const TrainingObserver& observer) {
  if (!options.preset.empty()) ApplyPreset(options, PresetOf(kTranslationPresets, options.preset));
  const TrainingPlan plan = CompleteTraining(options, kTranslationDefaults);
  TransformerConfig config = ConfigOf(options, plan);
  CheckConfig([&] {  // vocabulary training is slow, so the configuration is checked first
    TransformerConfig checked = config;
    checked.source_vocabulary = checked.target_vocabulary = std::max<std::int64_t>(1, options.vocabulary.size);
    return checked;
  }());
  const bool splits = options.validate_split > 0;
  const auto is_corpus = [](const std::vector<std::string>& files) { return files.size() == 1 || files.size() == 2; };
  Check(is_corpus(options.train) && (splits || is_corpus(options.valid)),
        "`train` and `valid` are two files each, the source's text and the target's, or one file of pairs");
  options.corpus.share = options.learned();
  options.vocabulary.seed = options.seed;
  for (const std::vector<std::string>& files : {options.train, options.valid}) {
    CheckNoPipe(files);
    CheckReadable(files);
  }
  const TrainingFolder held(options.out, options.resume, options.ranks);
  CheckText(options.train, options.columns);
  if (!splits) CheckText(options.valid, options.columns);
  NoteCheck(
      observer,
      {.files = options.train, .task = options.train.size() == 2 ? "parallel" : "pairs", .pairs = options.columns});

  const std::string vocabulary = options.out + "/source.spm", cache = options.out + "/corpus.cache";
  const bool learned = HasCheckpoint(
      CheckpointOf(options.out));  // otherwise the vocabulary may be incomplete, or trained with other settings
  if (!learned)
    held.Prepare([&] {
      Note(observer, fmt::format("training a vocabulary of {} from {}", options.vocabulary.size,
                                 fmt::join(options.train, " and ")));
      const MarianTokenizer learnt = LearnVocabulary(options.train, options.vocabulary, options.columns);
      if (learnt.size() < options.vocabulary.size)
        Note(observer, fmt::format("the text allows a vocabulary of {}", learnt.size()));
      learnt.Save(options.out, config.positions);
    });
  const MarianTokenizer tokenizer = MarianTokenizer::Load(options.out);
  config.source_vocabulary = config.target_vocabulary = tokenizer.size();
  config.start_id = config.pad_id = tokenizer.pad();
  config.end_id = tokenizer.eos();

  options.corpus.keep_text = options.bpe_dropout > 0;
  const Corpus corpus(
      {options.train[0], options.train.size() == 2 ? options.train[1] : "", cache, options.columns},
      [&](std::string_view text, Side side) { return tokenizer.Encode(text, side); },
      HashOf(MappedFile(vocabulary).text()), options.corpus);
  const CorpusCounts& counts = corpus.counts();
  Note(observer, fmt::format("{} pairs of {}: {} empty, {} longer than {} tokens and {} with very different lengths "
                             "are left out; {} source and "
                             "{} target tokens",
                             counts.kept, counts.lines, counts.empty, counts.over_long, options.corpus.max_tokens,
                             counts.lopsided, counts.source_tokens, counts.target_tokens));
  const TranslationValidation validation = ReadValidation(options, tokenizer);
  if (splits) Note(observer, fmt::format("{} pairs are held out to validate on", validation.sources.size()));

  Transformer model(config);
  model.parameters().Initialize(options.seed);
  options.teacher_forcing.batches = plan.batches;
  PairOptions pairs{.start_id = config.start_id, .eos_id = config.end_id};
  if (options.bpe_dropout > 0)
    pairs.sample = [&](std::string_view text, Side side, Random& random) {
      return tokenizer.EncodeSampled(text, random, options.bpe_dropout, side);
    };
  return RunTraining(
      TranslationTask(model, corpus, pairs, validation, options.teacher_forcing), plan.training,
      {.out = options.out,
       .of = RunOf(options, plan, config, corpus),
       .validation = options.valid,
       .save = [&](const std::string& folder) { SaveModel(model, tokenizer, folder); },
       .compute = plan.compute,
       .resume = options.resume,
       .profile = options.profile,
       .longest_warmup = options.preset == "multi30k" ? kMulti30kWarmup : kTranslationDefaults.longest_warmup},
      observer);
}

}  // namespace headlight
