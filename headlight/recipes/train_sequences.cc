#include "headlight/recipes/train_sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "headlight/base/choice.h"
#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/records.h"
#include "headlight/data/text_pairs.h"
#include "headlight/models/bart.h"
#include "headlight/models/family.h"
#include "headlight/models/t5.h"
#include "headlight/text/tokenizers/load_tokenizer.h"
#include "headlight/train/objectives/sequences.h"

namespace headlight {
namespace {

using NewFamily = SequenceToSequenceTraining::Family;

// Returns the configuration of T5 1.0.
T5Config T5Of(const SequenceTraining& options, const TrainingPlan& plan, const PipelineTokenizer& tokenizer) {
  const ModelSizes& sizes = plan.sizes;
  T5Config config;
  config.model = sizes.model;
  config.encoder_layers = config.decoder_layers = sizes.layers;
  config.heads = sizes.heads;
  config.head_dim = sizes.model / sizes.heads;
  config.ffn = sizes.inner();
  Check(!options.attention_dropout, "`attention_dropout`: a T5 has one dropout for all its parts");
  config.dropout = plan.dropout;
  config.vocabulary = tokenizer.size();
  config.pad_id = config.start_id = TokenOf(tokenizer, options.tokenizer, "token of padding", {"<pad>"});
  config.end_id = TokenOf(tokenizer, options.tokenizer, "token that ends a text", {"</s>"});
  return config;
}

BartConfig BartOf(const SequenceTraining& options, const TrainingPlan& plan, const PipelineTokenizer& tokenizer) {
  const ModelSizes& sizes = plan.sizes;
  BartConfig config;
  config.model = sizes.model;
  config.encoder_layers = config.decoder_layers = sizes.layers;
  config.encoder_heads = config.decoder_heads = sizes.heads;
  config.encoder_ffn = config.decoder_ffn = sizes.inner();
  config.dropout = plan.dropout;
  config.attention_dropout = plan.attention_dropout;
  config.vocabulary = tokenizer.size();
  config.positions = options.longest();
  config.pad_id = TokenOf(tokenizer, options.tokenizer, "token of padding", {"<pad>"});
  config.start_id = config.end_id = TokenOf(tokenizer, options.tokenizer, "token that ends a text", {"</s>"});
  return config;
}

std::unique_ptr<EncoderDecoder> MakeModel(const SequenceTraining& options, const TrainingPlan& plan, NewFamily family) {
  if (!options.from_scratch()) return LoadModel<EncoderDecoder>(options.from, {.dropout = options.chosen_dropout()});
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.tokenizer);
  std::unique_ptr<EncoderDecoder> model;
  if (family == NewFamily::t5)
    model = std::make_unique<T5>(T5Of(options, plan, tokenizer));
  else
    model = std::make_unique<Bart>(BartOf(options, plan, tokenizer));
  model->parameters().Initialize(options.seed);
  return model;
}

// A task and its examples.
struct PreparedSequences {
  SequenceSets pairs;
  TextSets texts;
  TrainingTask task;
  std::uint64_t hash = 0;
};

void ReadPairs(const SequenceToSequenceTraining& options, const std::shared_ptr<const Tokenizer>& tokenizer,
               EncoderDecoder& model, const TrainingObserver& observer, PreparedSequences& prepared) {
  const std::int64_t longest = model.limits().positions;
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share,
                        std::vector<std::string>* sources) {
    std::vector<SequenceExample> examples;
    std::int64_t tokens[2] = {0, 0};
    for (const TextPair& pair : ReadTextPairs(paths, options.columns, share)) {
      SequenceExample& example = examples.emplace_back();
      example.source = example.target = tokenizer->before();
      const auto add = [](const std::vector<std::int32_t>& ids, std::vector<std::int32_t>& to) {
        to.insert(to.end(), ids.begin(), ids.end());
      };
      add(tokenizer->Encode(options.prefix + pair.source), example.source);
      add(tokenizer->after(), example.source);
      add(tokenizer->Encode(pair.target, Side::target), example.target);
      Check(std::ssize(example.source) <= longest && std::ssize(example.target) < longest,
            "{}: {} source and {} target tokens, and the model reads and writes at most {}", pair.location,
            example.source.size(), example.target.size() + 1, longest);
      tokens[0] += std::ssize(example.source);
      tokens[1] += std::ssize(example.target) + 1;
      if (sources != nullptr) sources->push_back(options.prefix + pair.source);
    }
    CheckNotEmpty(examples.size(), "pairs", paths, share);
    Note(observer, fmt::format("{}: {}, {} source and {} target tokens", fmt::join(paths, ", "),
                               Counted(examples.size(), "pair"), tokens[0], tokens[1]));
    return examples;
  };
  NoteCheck(observer, {.files = options.train, .task = "pairs", .pairs = options.columns});
  SequenceSets& sets = prepared.pairs;
  sets.train = read(options.train, options.learned(), nullptr);
  sets.valid = read(options.validation(), options.validated(), &sets.valid_sources);
  sets.decode = [tokenizer](std::span<const std::int32_t> ids) { return tokenizer->Decode(ids); };
  prepared.hash = HashOfSequences(sets.train);
  prepared.task = SequenceTask(model, sets, options.teacher_forcing);
}

// Returns the tokens <extra_id_0>, <extra_id_1>, ...
std::vector<std::int32_t> SentinelsOf(const PipelineTokenizer& tokenizer, const std::string& folder) {
  std::vector<std::int32_t> sentinels;
  while (const std::optional<std::int32_t> id = tokenizer.Find(fmt::format("<extra_id_{}>", sentinels.size())))
    sentinels.push_back(*id);
  Check(sentinels.size() >= 2,
        "{}: the tokenizer has {} sentinels, <extra_id_0> and on, and two are needed at least; `headlight train "
        "tokenizer --sentinels 100` adds them",
        folder, sentinels.size());
  return sentinels;
}

// Returns the tokens that end with a full stop or similar punctuation.
std::vector<std::int32_t> SentenceEndsOf(const PipelineTokenizer& tokenizer) {
  std::vector<std::int32_t> ends;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    const std::string text = tokenizer.IsSpecial(id) ? "" : tokenizer.Decode({&id, 1});
    if (std::ranges::any_of(std::initializer_list<const char*>{".", "!", "?", "\u3002", "\u0964"},
                            [&](const char* end) { return text.ends_with(end); }))
      ends.push_back(id);
  }
  return ends;
}

template <typename NewTask>
void ReadCorrupted(const SequenceTraining& options, EncoderDecoder& model, const TrainingObserver& observer,
                   PreparedSequences& prepared, const NewTask& new_task) {
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.tokenizer_folder());
  const AroundTexts around{tokenizer.before(), tokenizer.after()};
  const std::int64_t taken = std::ssize(around.before) + std::max<std::int64_t>(1, std::ssize(around.after));
  const std::int64_t longest = std::min(options.longest(), model.limits().positions) - taken;
  Check(longest >= 1, "`positions` {}: with the special tokens around a text there is no space for one",
        options.longest());
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share) {
    TextExamples found = ReadTexts(paths, tokenizer, longest, /*for_encoder=*/false, share, options.source);
    CheckNotEmpty(found.texts.size(), "texts", paths, share);
    Note(
        observer,
        fmt::format(
            "{}: {}, {}{}", fmt::join(paths, ", "), Counted(found.texts.size(), "text"), Counted(found.tokens, "token"),
            found.cut > 0 ? fmt::format("; {} longer than {} tokens are cut into pieces", found.cut, longest) : ""));
    return std::move(found.texts);
  };
  NoteCheckOfTexts(observer, options.train, options.source);
  prepared.texts.train = read(options.train, options.learned());
  prepared.texts.valid = read(options.validation(), options.validated());
  prepared.hash = HashOfTexts(prepared.texts.train);
  prepared.task = new_task(tokenizer, around);
}

// Runs the training for all three kinds of examples. read(model, tokenizer, prepared) reads the examples and makes the
// task. `own` has additional settings that must not change when a run is resumed.
template <typename Read>
TrainingResult TrainSequences(SequenceTraining& options, const char* name, NewFamily family, const Json::Object& own,
                              const Read& read, const TrainingObserver& observer) {
  const TrainingPlan plan = CompleteTraining(options, kTextDefaults);
  const TrainingFolder training = BeginTextTraining(options);
  options.teacher_forcing.batches = plan.batches;
  const std::string& folder = options.tokenizer_folder();
  const std::shared_ptr<const Tokenizer> tokenizer = LoadTokenizer(folder);
  const std::unique_ptr<EncoderDecoder> model = MakeModel(options, plan, family);
  Check(tokenizer->size() <= std::min(model->limits().source_vocabulary, model->limits().target_vocabulary),
        "{}: the tokenizer has {} tokens, and the model {}", folder, tokenizer->size(),
        model->limits().target_vocabulary);
  PreparedSequences prepared;
  read(*model, tokenizer, prepared);
  Json of = Json::Object{{"label_smoothing", options.teacher_forcing.label_smoothing}};
  SetRDrop(options.teacher_forcing, of);
  for (const auto& [key, value] : own) of.Set(key, value);
  if (options.from_scratch()) of.Set("family", family == NewFamily::t5 ? "t5" : "bart");
  return RunTextTraining(prepared.task, options, plan, name, "target tokens", prepared.hash, std::move(of), observer);
}

void DescribeSequences(OptionTable& table, SequenceTraining& options, const char* texts) {
  Describe(table, options, kTextDefaults, texts);
  table.Get("--batch-tokens").Describe("Tokens per batch: of the sources or of the targets, whichever are more");
  AddLabelSmoothing(table, options.teacher_forcing.label_smoothing);
  AddRDrop(table, options.teacher_forcing);
}

// Describes the options of training on corrupted texts. `positions` also applies if `from` is given, since texts are
// split into pieces of at most `positions` tokens.
void DescribeCorruption(OptionTable& table, SequenceTraining& options, double& share, double& length) {
  DescribeSequences(table, options, "one text per line or as records (`format`)");
  Describe(table, options.source);
  table.Get("--positions")
      .Describe("Tokens of the longest text; a longer one is cut into pieces")
      .StopExcluding(table.Get("--from"));
  table.Add("--mask-share", share, NumberAbove(0, 1), "Share of the tokens that are masked")
      .ShowDefault()
      .Group("Training");
  table.Add("--span-length", length, NumberFrom(1), "Mean length of the masked spans, in tokens")
      .ShowDefault()
      .Group("Training");
}

}  // namespace

void Describe(OptionTable& table, SequenceToSequenceTraining& options) {
  DescribeSequences(table, options,
                    "source, tab, target on each line, or .jsonl or .csv with columns such as source and "
                    "target, or document and summary");
  table.Get("--positions").Describe("Tokens of the longest text that a BART from scratch reads");
  AddChoice<NewFamily>(table, "--family", options.family, {{"bart", NewFamily::bart}, {"t5", NewFamily::t5}},
                       "Architecture of the model")
      .Excludes(table.Get("--from"))
      .Group(kModelGroup);
  AddPairColumns(table, options.columns, "Text");
  table.Add("--prefix", options.prefix, "Put this before each source, as T5's \"summarize: \"").Type("TEXT");
}

void Describe(OptionTable& table, SpanCorruptionTraining& options) {
  DescribeCorruption(table, options, options.spans.share, options.spans.mean_length);
}

void Describe(OptionTable& table, DenoisingTraining& options) {
  DescribeCorruption(table, options, options.noise.share, options.noise.mean_length);
}

TrainingResult TrainSequenceToSequence(SequenceToSequenceTraining options, const TrainingObserver& observer) {
  Check(options.family != NewFamily::t5 || !options.positions,
        "`positions` is for a BART: a T5 reads texts of any length");
  return TrainSequences(
      options, "seq2seq", options.family, Json::Object{},
      [&](EncoderDecoder& model, const std::shared_ptr<const Tokenizer>& tokenizer, PreparedSequences& prepared) {
        ReadPairs(options, tokenizer, model, observer, prepared);
      },
      observer);
}

TrainingResult TrainSpanCorruption(SpanCorruptionTraining options, const TrainingObserver& observer) {
  return TrainSequences(
      options, "span-corruption", NewFamily::t5,
      Json::Object{{"mask_share", options.spans.share}, {"span_length", options.spans.mean_length}},
      [&](EncoderDecoder& model, const std::shared_ptr<const Tokenizer>&, PreparedSequences& prepared) {
        ReadCorrupted(
            options, model, observer, prepared, [&](const PipelineTokenizer& tokenizer, const AroundTexts& around) {
              options.spans.sentinels = SentinelsOf(tokenizer, options.tokenizer_folder());
              return SpanCorruptionTask(model, prepared.texts, around, options.spans, options.teacher_forcing);
            });
      },
      observer);
}

TrainingResult TrainDenoising(DenoisingTraining options, const TrainingObserver& observer) {
  return TrainSequences(
      options, "denoising", NewFamily::bart,
      Json::Object{{"mask_share", options.noise.share}, {"span_length", options.noise.mean_length}},
      [&](EncoderDecoder& model, const std::shared_ptr<const Tokenizer>&, PreparedSequences& prepared) {
        ReadCorrupted(
            options, model, observer, prepared, [&](const PipelineTokenizer& tokenizer, const AroundTexts& around) {
              options.noise.mask_id = TokenOf(tokenizer, options.tokenizer_folder(), "mask", {"<mask>", "[MASK]"});
              options.noise.sentence_ends = SentenceEndsOf(tokenizer);
              return DenoisingTask(model, prepared.texts, around, options.noise, options.teacher_forcing);
            });
      },
      observer);
}

}  // namespace headlight
