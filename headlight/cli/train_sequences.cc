// headlight train seq2seq, span-corruption, denoising: models that read one text and write another.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/text_training.h"
#include "headlight/cli/training_run.h"
#include "headlight/data/text_pairs.h"
#include "headlight/models/bart.h"
#include "headlight/models/family.h"
#include "headlight/models/t5.h"
#include "headlight/text/tokenizers/tokenizer.h"
#include "headlight/train/tasks/denoising.h"
#include "headlight/train/tasks/sequences.h"
#include "headlight/train/tasks/span_corruption.h"

namespace headlight::train_sequences {
namespace {

enum class Task { pairs, spans, denoising };
enum class NewFamily { t5, bart };

struct Options : TextTrainingOptions {
  Task task = Task::pairs;
  std::string prefix;
  NewFamily family = NewFamily::bart;
  SpanOptions spans;
  NoiseOptions noise;
  TeacherForcingOptions teacher_forcing{.batches = {}, .label_smoothing = 0};  // whose batches are `batches`
};

const char* Name(Task task) {
  return task == Task::pairs ? "seq2seq" : task == Task::spans ? "span-corruption" : "denoising";
}

// T5 1.0.
T5Config T5Of(const Options& options, const PipelineTokenizer& tokenizer) {
  const ModelSizes& sizes = options.sizes;
  T5Config config;
  config.model = sizes.model;
  config.encoder_layers = config.decoder_layers = sizes.layers;
  config.heads = sizes.heads;
  config.head_dim = sizes.model / sizes.heads;
  config.ffn = sizes.inner();
  Check(!options.attention_dropout, "--attention-dropout: a T5 has one dropout for all its parts");
  config.dropout = options.new_dropout();
  config.vocabulary = tokenizer.size();
  config.pad_id = config.start_id = TokenOf(tokenizer, options.tokenizer, "token of padding", {"<pad>"});
  config.end_id = TokenOf(tokenizer, options.tokenizer, "token that ends a text", {"</s>"});
  return config;
}

BartConfig BartOf(const Options& options, const PipelineTokenizer& tokenizer) {
  const ModelSizes& sizes = options.sizes;
  BartConfig config;
  config.model = sizes.model;
  config.encoder_layers = config.decoder_layers = sizes.layers;
  config.encoder_heads = config.decoder_heads = sizes.heads;
  config.encoder_ffn = config.decoder_ffn = sizes.inner();
  config.dropout = options.new_dropout();
  config.attention_dropout = options.new_attention_dropout();
  config.vocabulary = tokenizer.size();
  config.positions = options.positions;
  config.pad_id = TokenOf(tokenizer, options.tokenizer, "token of padding", {"<pad>"});
  config.start_id = config.end_id = TokenOf(tokenizer, options.tokenizer, "token that ends a text", {"</s>"});
  return config;
}

std::unique_ptr<EncoderDecoder> MakeModel(const Options& options) {
  if (!options.from_scratch()) return LoadModel<EncoderDecoder>(options.from, {.dropout = options.chosen_dropout()});
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.tokenizer);
  std::unique_ptr<EncoderDecoder> model;
  if (options.family == NewFamily::t5)
    model = std::make_unique<T5>(T5Of(options, tokenizer));
  else
    model = std::make_unique<Bart>(BartOf(options, tokenizer));
  model->parameters().Initialise(options.training.seed);
  return model;
}

// A task and the examples that it refers to.
struct PreparedTask {
  SequenceSets pairs;
  TextSets texts;
  TrainingTask task;
  std::uint64_t hash = 0;
};

void ReadPairs(const Options& options, const std::shared_ptr<const Tokenizer>& tokenizer, EncoderDecoder& model,
               TrainingProgress& progress, PreparedTask& prepared) {
  const std::int64_t longest = model.limits().positions;
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share,
                        std::vector<std::string>* sources) {
    std::vector<SequenceExample> examples;
    std::int64_t tokens[2] = {0, 0};
    for (const TextPair& pair : ReadTextPairs(paths, share)) {
      SequenceExample& example = examples.emplace_back();
      example.source = example.target = tokenizer->before();
      const auto add = [](const std::vector<std::int32_t>& ids, std::vector<std::int32_t>& to) {
        to.insert(to.end(), ids.begin(), ids.end());
      };
      add(tokenizer->Encode(options.prefix + pair.source), example.source);
      add(tokenizer->after(), example.source);
      add(tokenizer->Encode(pair.target, Side::target), example.target);
      Check(std::ssize(example.source) <= longest && std::ssize(example.target) < longest,
            "{}: {} source and {} target tokens, of which the model reads and writes {}", pair.place,
            example.source.size(), example.target.size() + 1, longest);
      tokens[0] += std::ssize(example.source);
      tokens[1] += std::ssize(example.target) + 1;
      if (sources != nullptr) sources->push_back(options.prefix + pair.source);
    }
    CheckNotEmpty(examples.size(), "pairs", paths, share);
    progress.Note(fmt::format("{}: {} pairs, {} source and {} target tokens", fmt::join(paths, ", "), examples.size(),
                              tokens[0], tokens[1]));
    return examples;
  };
  SequenceSets& sets = prepared.pairs;
  sets.train = read(options.train, options.learned(), nullptr);
  sets.valid = read(options.validation(), options.validated(), &sets.valid_sources);
  sets.decode = [tokenizer](std::span<const std::int32_t> ids) { return tokenizer->Decode(ids); };
  prepared.hash = HashOfSequences(sets.train);
  prepared.task = SequenceTask(model, sets, options.teacher_forcing);
}

// <extra_id_0> and on.
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

// The tokens that end with a full stop or its like.
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

void ReadBroken(const Options& options, const std::string& folder, EncoderDecoder& model, TrainingProgress& progress,
                PreparedTask& prepared) {
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  const AroundTexts around{tokenizer.before(), tokenizer.after()};
  const std::int64_t taken = std::ssize(around.before) + std::max<std::int64_t>(1, std::ssize(around.after));
  const std::int64_t longest = std::min(options.positions, model.limits().positions) - taken;
  Check(longest >= 1, "--positions {}: with what stands around a text there is no room for one", options.positions);
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share) {
    TextExamples found = ReadTexts(paths, tokenizer, longest, /*for_encoder=*/false, share);
    CheckNotEmpty(found.texts.size(), "texts", paths, share);
    progress.Note(fmt::format(
        "{}: {} texts, {} tokens{}", fmt::join(paths, ", "), found.texts.size(), found.tokens,
        found.cut > 0 ? fmt::format("; {} longer than {} tokens are cut into pieces", found.cut, longest) : ""));
    return std::move(found.texts);
  };
  prepared.texts.train = read(options.train, options.learned());
  prepared.texts.valid = read(options.validation(), options.validated());
  prepared.hash = HashOfTexts(prepared.texts.train);
  if (options.task == Task::spans) {
    SpanOptions spans = options.spans;
    spans.sentinels = SentinelsOf(tokenizer, folder);
    prepared.task = SpanCorruptionTask(model, prepared.texts, around, spans, options.teacher_forcing);
  } else {
    NoiseOptions noise = options.noise;
    noise.mask_id = TokenOf(tokenizer, folder, "mask", {"<mask>", "[MASK]"});
    noise.sentence_ends = SentenceEndsOf(tokenizer);
    prepared.task = DenoisingTask(model, prepared.texts, around, noise, options.teacher_forcing);
  }
}

void Run(Options& options) {
  const TrainingFolder training = BeginTextTraining(options);
  options.teacher_forcing.batches = options.batches;
  const std::string& folder = options.folder();
  const std::shared_ptr<const Tokenizer> tokenizer = LoadTokenizer(folder);
  const std::unique_ptr<EncoderDecoder> model = MakeModel(options);
  Check(tokenizer->size() <= std::min(model->limits().source_vocabulary, model->limits().target_vocabulary),
        "{}: the tokenizer has {} tokens, and the model {}", folder, tokenizer->size(),
        model->limits().target_vocabulary);
  TrainingProgress progress(Quiet());
  PreparedTask prepared;
  if (options.task == Task::pairs)
    ReadPairs(options, tokenizer, *model, progress, prepared);
  else
    ReadBroken(options, folder, *model, progress, prepared);
  Json of = Json::Object{{"label_smoothing", options.teacher_forcing.label_smoothing}};
  SetRDrop(options.teacher_forcing, of);
  if (options.task != Task::pairs) {
    const bool spans = options.task == Task::spans;
    of.Set("mask_share", spans ? options.spans.share : options.noise.share);
    of.Set("span_length", spans ? options.spans.mean_length : options.noise.mean_length);
  }
  if (options.from_scratch()) of.Set("family", options.family == NewFamily::t5 ? "t5" : "bart");
  const std::string use = options.task != Task::pairs ? "headlight train seq2seq --from"
                          : options.prefix.empty()    ? "headlight summarize"
                                                      : "headlight summarize --prefix " + ForShell(options.prefix);
  RunTextTraining(prepared.task, options, Name(options.task), use, prepared.hash, std::move(of), progress);
}

void AddTask(Command& train, Task task, const char* description, const char* texts, const char* positions,
             const char* examples) {
  Command& command = train.AddCommand(Name(task), description);
  auto options = std::make_shared<Options>();
  options->task = task;
  AddTextTrainingOptions(command, *options, texts);
  AddLabelSmoothing(command, options->teacher_forcing.label_smoothing);
  AddRDrop(command, options->teacher_forcing);
  Option& longest = command.Get("--positions").Describe(positions);
  command.Get("--batch-tokens").Describe("Tokens per batch: of the sources or of the targets, whichever are more");
  if (task == Task::pairs) {
    AddChoice<NewFamily>(command, "--family", options->family, {{"bart", NewFamily::bart}, {"t5", NewFamily::t5}},
                         "Architecture of the model")
        .Excludes(command.Get("--from"))
        .Group("A model from scratch");
    command.Add("--prefix", options->prefix, "Put this before each source, as T5's \"summarize: \"").Type("TEXT");
  } else {
    const bool spans = task == Task::spans;
    Option& from = command.Get("--from");  // texts are cut into pieces of --positions, with it too
    longest.StopExcluding(from);
    if (spans) options->family = NewFamily::t5;
    command
        .Add("--mask-share", spans ? options->spans.share : options->noise.share, NumberAbove(0, 1),
             "Share of the tokens that are masked")
        .ShowDefault()
        .Group("Training");
    command
        .Add("--span-length", spans ? options->spans.mean_length : options->noise.mean_length, NumberFrom(1),
             "Mean length of the masked spans, in tokens")
        .ShowDefault()
        .Group("Training");
  }
  command.footer = examples;
  command.run = [options, &longest] {
    Check(options->task != Task::pairs || options->family != NewFamily::t5 || !longest.given(),
          "--positions is for a BART: a T5 reads texts of any length");
    Run(*options);
  };
}

}  // namespace

void Add(Command& train) {
  AddTask(train, Task::pairs, "Train a sequence-to-sequence model (from scratch a BART or a T5)",
          "source, tab, target a line, or .jsonl with {\"source\", \"target\"}",
          "Tokens of the longest text that a BART from scratch reads",
          "\nA text longer than the model is refused. A validation's score is the share of the targets that the model\n"
          "writes word for word.\n\n"
          "Examples:\n"
          "  headlight train seq2seq --train train.jsonl --valid val.jsonl --from flan-t5-small --prefix 'summarize: ' "
          "\\\n    --out model\n"
          "  headlight train seq2seq --train train.tsv --valid val.tsv --tokenizer tokens --out model --layers 3\n"
          "  headlight summarize model articles.txt --prefix 'summarize: '");
  AddTask(train, Task::spans, "Pretrain by filling in masked spans, as T5 (from scratch a T5)", "a text a line",
          "Tokens of the longest text; a longer one is cut into pieces",
          "\nOther spans are masked in each epoch.\n\n"
          "Examples:\n"
          "  headlight train tokenizer --algorithm unigram --sentinels 100 --out tokens train.en\n"
          "  headlight train span-corruption --train train.en --valid val.en --tokenizer tokens --out model\n"
          "  headlight train span-corruption --train train.en --valid val.en --from t5-small --out model");
  AddTask(train, Task::denoising, "Pretrain by denoising texts, as BART (from scratch a BART)", "a text a line",
          "Tokens of the longest text; a longer one is cut into pieces",
          "\nSpans become one mask each, and sentences change places, others in each epoch.\n\n"
          "Examples:\n"
          "  headlight train tokenizer --byte-level --special '<s>' --special '<pad>' --special '</s>' --special "
          "'<mask>' \\\n    --out tokens train.en\n"
          "  headlight train denoising --train train.en --valid val.en --tokenizer tokens --out model\n"
          "  headlight train denoising --train train.en --valid val.en --from bart-base --out model");
}

}  // namespace headlight::train_sequences
