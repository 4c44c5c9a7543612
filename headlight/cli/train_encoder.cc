// headlight train masked-language-model, classification, tagging, question-answering: the tasks of text encoders.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/esm_training.h"
#include "headlight/cli/output.h"
#include "headlight/cli/text_training.h"
#include "headlight/data/classified_texts.h"
#include "headlight/models/bert.h"
#include "headlight/models/family.h"
#include "headlight/train/tasks/class_weights.h"
#include "headlight/train/tasks/classification.h"
#include "headlight/train/tasks/masked_language_model.h"
#include "headlight/train/tasks/question_answering.h"
#include "headlight/train/tasks/tagging.h"

namespace headlight::train_encoder {
namespace {

struct EncoderOptions : TextTrainingOptions {
  MaskingOptions masking;
  std::string class_weights, preset;
};

// How a task reads its files.
struct Reading {
  EncoderOptions& options;
  const PipelineTokenizer& tokenizer;
  std::int64_t longest;              // tokens of the model's input
  std::vector<std::string>& labels;  // those of the model, or none yet
  NewLabels in_training, in_validation;
  TrainingProgress& progress;
};

// The texts that a task learns from, and the task for a model.
struct PreparedTask {
  const std::vector<TextExample>* texts;
  std::function<TrainingTask(TextEncoder& model)> task;
  Json run = Json::Object{};  // the task's own options, which a resumed run must have in common
};

struct EncoderTask {
  const char* name;
  const char* use;   // the command that uses the model
  const char* head;  // in words
  bool TextHeadsConfig::*has;
  PreparedTask (*read)(const Reading& reading);
};

std::unique_ptr<Bert> NewBert(const EncoderOptions& options, const PipelineTokenizer& tokenizer,
                              const TextHeadsConfig& heads) {
  const ModelSizes& sizes = options.sizes;
  BertConfig config;
  config.model = sizes.model;
  config.layers = sizes.layers;
  config.heads = sizes.heads;
  config.ffn = sizes.inner();
  config.dropout = options.new_dropout();
  config.attention_dropout = options.new_attention_dropout();
  config.positions = options.positions;
  config.vocabulary = tokenizer.size();
  config.pad_id = TokenOf(tokenizer, options.tokenizer, "token of padding", {"[PAD]", "<pad>"});
  config.on_top = heads;
  config.on_top.pooler = heads.sequence_classes;
  auto model = std::make_unique<Bert>(config);
  model->parameters().Initialise(options.training.seed);
  return model;
}

void Run(const EncoderTask& task, EncoderOptions& options) {
  if (!options.preset.empty()) BeginEsmTraining(options, options.preset);
  const TrainingFolder folder = BeginTextTraining(options);
  if (!options.from_scratch()) CheckKind<TextEncoder>(options.from);
  const PipelineTokenizer tokenizer = TokenizerOf(options);
  std::unique_ptr<TextEncoder> model;
  if (!options.from_scratch()) {
    model = LoadModel<TextEncoder>(options.from, {.dropout = options.chosen_dropout()});
    Check(tokenizer.size() <= model->limits().vocabulary, "{}: the tokenizer has {} tokens, and the model {}",
          options.from, tokenizer.size(), model->limits().vocabulary);
  }
  TrainingProgress progress(Quiet());
  const bool has_head = model && model->heads().*task.has;
  TextHeadsConfig heads;
  heads.*task.has = true;
  if (has_head) heads.labels = model->heads().labels;
  const std::int64_t longest = model ? model->limits().positions : options.positions;
  const PreparedTask prepared = task.read({options, tokenizer, longest, heads.labels,
                                           has_head ? NewLabels::refused_but_numbers : NewLabels::added,
                                           has_head ? NewLabels::refused_but_numbers : NewLabels::refused, progress});
  if (!options.preset.empty()) {
    model = NewEsm(options, heads);
  } else if (!model) {
    model = NewBert(options, tokenizer, heads);
  } else if (!has_head) {
    progress.Note(fmt::format("{}: no head for {}; a new one is initialised", options.from, task.head));
    model = GiveHeads(*model, heads, options.training.seed);
  }
  RunTextTraining(prepared.task(*model), options, task.name, task.use, HashOfTexts(*prepared.texts), prepared.run,
                  progress);
}

using Paths = std::vector<std::string>;

std::vector<double> WeightsOf(const Reading& reading, const std::vector<TextExample>& texts) {
  const std::string& rule = reading.options.class_weights;
  return rule.empty() ? std::vector<double>() : ClassWeights(rule, reading.labels, texts);
}

PreparedTask ReadHiddenWords(const Reading& reading) {
  EncoderOptions& options = reading.options;
  const auto sets = std::make_shared<TextSets>();
  const auto read = [&](const Paths& paths, const TextShare& share) {
    TextExamples found = ReadTexts(paths, reading.tokenizer, reading.longest, /*for_encoder=*/true, share);
    NoteTexts(reading.progress, paths, share, found);
    return found.texts;
  };
  sets->train = read(options.train, options.learned());
  sets->valid = read(options.validation(), options.validated());
  SetSpecialTokens(reading.tokenizer, options.folder(), options.masking);
  PreparedTask prepared = {
      &sets->train,
      [sets, &options](TextEncoder& model) {
        return MaskedLanguageModelTask(model, *sets, options.masking, options.batches);
      },
      Json::Object{{"mask_share", options.masking.share}, {"whole_words", options.masking.whole_words}}};
  if (!options.preset.empty()) prepared.run.Set("family", "esm");
  return prepared;
}

PreparedTask ReadClasses(const Reading& reading) {
  const auto sets = std::make_shared<TextSets>();
  const auto read = [&](const Paths& paths, const TextShare& share, NewLabels rule) {
    TextExamples found = ReadClassifiedTexts(paths, reading.tokenizer, reading.longest, reading.labels, rule, share);
    NoteTexts(reading.progress, paths, share, found);
    return found.texts;
  };
  sets->train = read(reading.options.train, reading.options.learned(), reading.in_training);
  sets->valid = read(reading.options.validation(), reading.options.validated(), reading.in_validation);
  return {&sets->train,
          [sets, weights = WeightsOf(reading, sets->train), &batches = reading.options.batches](TextEncoder& model) {
            return ClassificationTask(model, *sets, batches, weights);
          },
          Json::Object{{"class_weights", reading.options.class_weights}}};
}

PreparedTask ReadTags(const Reading& reading) {
  const auto sets = std::make_shared<TaggedSets>();
  const auto read = [&](const Paths& paths, const TextShare& share, NewLabels rule) {
    TaggedTexts found = ReadTaggedTexts(paths, reading.tokenizer, reading.longest, reading.labels, rule, share);
    NoteTexts(reading.progress, paths, share, found.texts);
    return found;
  };
  sets->train = read(reading.options.train, reading.options.learned(), reading.in_training);
  sets->valid = read(reading.options.validation(), reading.options.validated(), reading.in_validation);
  return {&sets->train.texts.texts,
          [sets, weights = WeightsOf(reading, sets->train.texts.texts), &batches = reading.options.batches](
              TextEncoder& model) { return TaggingTask(model, *sets, batches, weights); },
          Json::Object{{"class_weights", reading.options.class_weights}}};
}

PreparedTask ReadAnswers(const Reading& reading) {
  const auto sets = std::make_shared<QuestionSets>();
  const auto read = [&](const Paths& paths, const TextShare& share, bool to_be_scored) {
    QuestionTexts found = ReadQuestions(paths, reading.tokenizer, reading.longest, to_be_scored, share);
    NoteTexts(reading.progress, paths, share, found.texts);
    return found;
  };
  sets->train = read(reading.options.train, reading.options.learned(), false);
  sets->valid = read(reading.options.validation(), reading.options.validated(), true);
  return {&sets->train.texts.texts, [sets, &batches = reading.options.batches](TextEncoder& model) {
            return QuestionTask(model, *sets, batches);
          }};
}

Command& AddTask(Command& train, const std::shared_ptr<EncoderOptions>& options, const EncoderTask& task,
                 const char* description, const char* texts, const std::string& footer) {
  Command& command = train.AddCommand(task.name, description);
  AddTextTrainingOptions(command, *options, texts);
  command.footer = "\n" + footer;
  command.run = [options, task] { Run(task, *options); };
  return command;
}

void AddClassWeights(OptionTable& command, std::string& rule) {
  command
      .Add("--class-weights", rule,
           "Weights of the classes in the loss: balanced, in inverse proportion to how often each comes, or\n"
           "LABEL=WEIGHT,... (others weigh 1); scaled to a mean of 1 over the training labels")
      .Check(NotEmpty())
      .Type("balanced|LABEL=WEIGHT,...")
      .Group("Training");
}

constexpr const char* kFiles =
    "Files whose names end in .jsonl are JSON lines, in .csv CSV with a header; either may end in .gz. --from a model\n"
    "without a head for the task, or with another one, keeps the encoder and initialises a new head.\n\n";

}  // namespace

void Add(Command& train) {
  const auto words = std::make_shared<EncoderOptions>();
  Command& masked = AddTask(
      train, words,
      {"masked-language-model", "headlight fill-mask", "hidden words", &TextHeadsConfig::masked_words, ReadHiddenWords},
      "Train a masked language model (from scratch a BERT, or an ESM-2 of proteins)",
      "a text a line, JSON lines of {\"text\"}, or FASTA (.fasta, .fa, .faa)",
      std::string("Other tokens are masked in each epoch. A text longer than the model reads is cut into pieces.\n"
                  "Validations report the accuracy on them, and bits_per_mask: of an ESM-2 the bits per residue.\n") +
          kFiles +
          "Examples:\n"
          "  headlight train masked-language-model --train train.en --valid val.en --tokenizer bert --out model\n"
          "  headlight train masked-language-model --preset esm2-8m --train train.fasta --valid val.fasta --out esm");
  AddEsmPresets(masked, words->preset);
  masked.Add("--mask-share", words->masking.share, "Share of the tokens that are masked")
      .Check(NumberAbove(0, 1))
      .Type("X")
      .ShowDefault()
      .Group("Training");
  masked.Add("--whole-words", words->masking.whole_words, "Mask all tokens of a word or none").Group("Training");

  const auto classes = std::make_shared<EncoderOptions>();
  Command& classification = AddTask(
      train, classes,
      {"classification", "headlight classify", "classes of texts", &TextHeadsConfig::sequence_classes, ReadClasses},
      "Train a classifier of texts or text pairs (from scratch a BERT)",
      "text, tab, class, or two texts and their class; or JSON lines of {\"text\", \"text_pair\", \"label\"}",
      std::string("A text longer than the model is refused. \"text_pair\" may be left out.\n") + kFiles +
          "Examples:\n"
          "  headlight train classification --train train.tsv --valid val.tsv --from model --out classifier\n"
          "  headlight train classification --train pairs.jsonl --valid val.jsonl --from roberta --out classifier");
  AddClassWeights(classification, classes->class_weights);

  const auto tags = std::make_shared<EncoderOptions>();
  Command& tagging = AddTask(
      train, tags, {"tagging", "headlight tag", "classes of tokens", &TextHeadsConfig::token_classes, ReadTags},
      "Train a tagger of words, such as named entities (from scratch a BERT)",
      "a word and its tag a line, or JSON lines of {\"tokens\", \"tags\"}",
      std::string("A line of a CoNLL file is a word and, in the last column, its tag; an empty line ends a sentence, "
                  "and\n-DOCSTART- lines are none. Validated by F1 of spans where all tags are O, B-X or I-X, else "
                  "by\nthe share of right tags. A sentence longer than the model is read in windows, as `tag` "
                  "reads it.\n") +
          kFiles +
          "Examples:\n"
          "  headlight train tagging --train eng.train --valid eng.testa --from bert --out names\n"
          "  headlight train tagging --train train.jsonl --valid val.jsonl --tokenizer tokens --out names\n"
          "  echo 'Ada Lovelace was born in London.' | headlight tag names");
  AddClassWeights(tagging, tags->class_weights);

  AddTask(
      train, std::make_shared<EncoderOptions>(),
      {"question-answering", "headlight answer", "answers", &TextHeadsConfig::question_spans, ReadAnswers},
      "Train a model to find answers in passages (from scratch a BERT)",
      "SQuAD's .json, or JSON lines of {\"question\", \"context\", \"answers\"}",
      std::string("\"answers\" is a list of {\"text\", \"start\"}, start in characters of the context, or SQuAD's\n"
                  "{\"text\": [...], \"answer_start\": [...]}; none: the context does not say. Validated by SQuAD's "
                  "F1 and\nexact match. A context longer than the model is read in windows, as `answer` reads "
                  "it.\n") +
          kFiles +
          "Examples:\n"
          "  headlight train question-answering --train train.jsonl --valid val.jsonl --from bert --out answerer\n"
          "  headlight answer answerer --question 'Who wrote it?' --context article.txt");
}

}  // namespace headlight::train_encoder
