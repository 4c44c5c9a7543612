#include "headlight/recipes/train_text_encoder.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/classified_texts.h"
#include "headlight/models/bert.h"
#include "headlight/models/esm.h"
#include "headlight/models/family.h"
#include "headlight/recipes/esm_training.h"
#include "headlight/text/tokenizers/esm_tokenizer.h"
#include "headlight/train/objectives/class_weights.h"
#include "headlight/train/objectives/classification.h"
#include "headlight/train/objectives/masked_language_model.h"
#include "headlight/train/objectives/question_answering.h"
#include "headlight/train/objectives/tagging.h"

namespace headlight {
namespace {

// The parameters for reading a task's files.
struct Reading {
  EncoderTraining& options;
  const TrainingPlan& plan;
  const PipelineTokenizer& tokenizer;
  std::int64_t longest;              // tokens of the model's input
  std::vector<std::string>& labels;  // the model's labels; empty if it has none yet
  Problem problem;                   // for text classification
  NewLabels in_training, in_validation;
  const TrainingObserver& observer;
};

// A task with its training texts.
struct PreparedTask {
  const std::vector<TextExample>* texts;
  std::function<TrainingTask(TextEncoder& model)> task;
  Json run = Json::Object{};  // the task's own options, which must not change when a run is resumed
};

struct EncoderTask {
  const char* name;
  const char* head;  // the head's name in messages
  bool TextHeadsConfig::*has;
  PreparedTask (*read)(const Reading& reading);
};

std::unique_ptr<Bert> NewBert(const EncoderTraining& options, const TrainingPlan& plan,
                              const PipelineTokenizer& tokenizer, const TextHeadsConfig& heads) {
  BertConfig config;
  SetSizes(plan, config);
  config.positions = options.longest();
  config.vocabulary = tokenizer.size();
  config.pad_id = TokenOf(tokenizer, options.tokenizer, "token of padding", {"[PAD]", "<pad>"});
  config.on_top = heads;
  config.on_top.pooler = heads.sequence_classes;
  auto model = std::make_unique<Bert>(config);
  model->parameters().Initialize(options.seed);
  return model;
}

using Paths = std::vector<std::string>;

std::vector<double> WeightsOf(const Reading& reading, const std::vector<TextExample>& texts) {
  const std::string& rule = reading.options.class_weights;
  return rule.empty() ? std::vector<double>() : ClassWeights(rule, reading.labels, texts);
}

PreparedTask ReadHiddenWords(const Reading& reading) {
  EncoderTraining& options = reading.options;
  const auto sets = std::make_shared<TextSets>();
  const auto read = [&](const Paths& paths, const TextShare& share) {
    TextExamples found =
        ReadTexts(paths, reading.tokenizer, reading.longest, /*for_encoder=*/true, share, options.source);
    NoteTexts(reading.observer, paths, share, found);
    return found.texts;
  };
  NoteCheckOfTexts(reading.observer, options.train, options.source);
  sets->train = read(options.train, options.learned());
  sets->valid = read(options.validation(), options.validated());
  SetSpecialTokens(reading.tokenizer, options.tokenizer_folder(), options.masking);
  PreparedTask prepared = {
      &sets->train,
      [sets, &options, batches = reading.plan.batches](TextEncoder& model) {
        return MaskedLanguageModelTask(model, *sets, options.masking, batches);
      },
      Json::Object{{"mask_share", options.masking.share}, {"whole_words", options.masking.whole_words}}};
  if (!options.preset.empty()) prepared.run.Set("family", "esm");
  return prepared;
}

void NoteCheckOfLabels(const Reading& reading, const std::string& task, bool several_labels = false) {
  NoteCheck(reading.observer, {.files = reading.options.train,
                               .task = task,
                               .format = reading.options.source.format,
                               .columns = reading.options.columns,
                               .several_labels = several_labels});
}

PreparedTask ReadClasses(const Reading& reading) {
  const auto sets = std::make_shared<TextSets>();
  const LabelsPerText asked = LabelsPerTextOf(reading.problem);
  Check(asked == LabelsPerText::one || reading.options.class_weights.empty(),
        "`class_weights` are for texts that have one class each");
  const auto read = [&](const Paths& paths, const TextShare& share, NewLabels rule) {
    TextExamples found = ReadClassifiedTexts(paths, reading.tokenizer, reading.longest, reading.labels,
                                             {.rule = rule,
                                              .asked = asked,
                                              .columns = reading.options.columns,
                                              .share = share,
                                              .format = reading.options.source.format,
                                              .truncate = reading.options.truncate});
    NoteTexts(reading.observer, paths, share, found);
    return found.texts;
  };
  NoteCheckOfLabels(reading, "labels", asked == LabelsPerText::several);
  sets->train = read(reading.options.train, reading.options.learned(), reading.in_training);
  sets->valid = read(reading.options.validation(), reading.options.validated(), reading.in_validation);
  PreparedTask prepared = {&sets->train,
                           [sets, weights = WeightsOf(reading, sets->train), batches = reading.plan.batches](
                               TextEncoder& model) { return ClassificationTask(model, *sets, batches, weights); },
                           Json::Object{{"class_weights", reading.options.class_weights}}};
  if (asked != LabelsPerText::one) prepared.run.Set("problem_type", std::string(ProblemName(reading.problem)));
  return prepared;
}

PreparedTask ReadTags(const Reading& reading) {
  const auto sets = std::make_shared<TaggedSets>();
  const auto read = [&](const Paths& paths, const TextShare& share, NewLabels rule) {
    TaggedTexts found = ReadTaggedTexts(paths, reading.tokenizer, reading.longest, reading.labels, rule, share,
                                        reading.options.source.format);
    NoteTexts(reading.observer, paths, share, found.texts);
    return found;
  };
  NoteCheckOfLabels(reading, "tags");
  sets->train = read(reading.options.train, reading.options.learned(), reading.in_training);
  sets->valid = read(reading.options.validation(), reading.options.validated(), reading.in_validation);
  return {&sets->train.texts.texts,
          [sets, weights = WeightsOf(reading, sets->train.texts.texts),
           batches = reading.plan.batches](TextEncoder& model) { return TaggingTask(model, *sets, batches, weights); },
          Json::Object{{"class_weights", reading.options.class_weights}}};
}

PreparedTask ReadAnswers(const Reading& reading) {
  const auto sets = std::make_shared<QuestionSets>();
  const auto read = [&](const Paths& paths, const TextShare& share, bool to_be_scored) {
    QuestionTexts found =
        ReadQuestions(paths, reading.tokenizer, reading.longest, to_be_scored, share, reading.options.source.format);
    NoteTexts(reading.observer, paths, share, found.texts);
    return found;
  };
  NoteCheckOfLabels(reading, "questions");
  sets->train = read(reading.options.train, reading.options.learned(), false);
  sets->valid = read(reading.options.validation(), reading.options.validated(), true);
  return {&sets->train.texts.texts,
          [sets, batches = reading.plan.batches](TextEncoder& model) { return QuestionTask(model, *sets, batches); }};
}

constexpr EncoderTask kTasks[] = {
    {"masked-language-model", "masked tokens", &TextHeadsConfig::masked_words, ReadHiddenWords},
    {"classification", "classes of texts", &TextHeadsConfig::sequence_classes, ReadClasses},
    {"tagging", "classes of tokens", &TextHeadsConfig::token_classes, ReadTags},
    {"question-answering", "answers", &TextHeadsConfig::question_spans, ReadAnswers},
};

TrainingResult Train(const EncoderTask& task, EncoderTraining& options, const TrainingObserver& observer) {
  const bool esm = !options.preset.empty();
  const TrainingPlan plan = CompleteTraining(options, kTextDefaults);
  const TrainingFolder folder = BeginTextTraining(options, /*tokenizes=*/!esm);
  if (!options.from_scratch()) CheckKind<TextEncoder>(options.from);
  const std::string tokenizer_json = esm ? EsmTokenizerJson().Text() : "";
  const PipelineTokenizer tokenizer = esm ? PipelineTokenizer::Parse(tokenizer_json, "the built-in tokenizer")
                                          : PipelineTokenizer::Load(TransformerFolder(options.tokenizer_folder()));
  std::unique_ptr<TextEncoder> model;
  if (!options.from_scratch()) {
    model = LoadModel<TextEncoder>(options.from, {.dropout = options.chosen_dropout()});
    Check(tokenizer.size() <= model->limits().vocabulary, "{}: the tokenizer has {} tokens, and the model {}",
          options.from, tokenizer.size(), model->limits().vocabulary);
  }
  bool has_head = model && model->heads().*task.has;
  TextHeadsConfig heads;
  heads.*task.has = true;
  if (has_head) {
    heads.labels = model->heads().labels;
    heads.problem = model->heads().problem;
  }
  const bool for_another_problem = has_head && options.problem && *options.problem != heads.problem;
  if (options.problem && *options.problem != heads.problem) {
    has_head = false;
    heads.problem = *options.problem;
    heads.labels.clear();
  }
  if (heads.problem == Problem::number && heads.labels.empty()) heads.labels = {"LABEL_0"};  // Transformers' name
  options.source.proteins = esm || dynamic_cast<const Esm*>(model.get()) != nullptr;
  const std::int64_t longest = model ? model->limits().positions : options.longest();
  const PreparedTask prepared = task.read({options, plan, tokenizer, longest, heads.labels, heads.problem,
                                           has_head ? NewLabels::refused_but_numbers : NewLabels::added,
                                           has_head ? NewLabels::refused_but_numbers : NewLabels::refused, observer});
  if (esm) {
    model = NewEsm(options, plan, heads);
  } else if (!model) {
    model = NewBert(options, plan, tokenizer, heads);
  } else if (!has_head) {
    Note(observer, for_another_problem
                       ? fmt::format("{}: the head for {} is for another problem; a new one is initialized",
                                     options.from, task.head)
                       : fmt::format("{}: no head for {}; a new one is initialized", options.from, task.head));
    model = AddHeads(*model, heads, options.seed);
  }
  return RunTextTraining(prepared.task(*model), options, plan, task.name, "target tokens", HashOfTexts(*prepared.texts),
                         prepared.run, observer, tokenizer_json);
}

void DescribeClassWeights(OptionTable& table, std::string& rule) {
  table
      .Add("--class-weights", rule,
           "Weights of the classes in the loss: balanced, in inverse proportion to the frequency of each, or\n"
           "LABEL=WEIGHT,... (others weigh 1); scaled to a mean of 1 over the training labels")
      .Check(NotEmpty())
      .Type("balanced|LABEL=WEIGHT,...")
      .Group("Training");
}

}  // namespace

void Describe(OptionTable& table, MaskedLanguageModelTraining& options) {
  Describe(table, options, kTextDefaults, "one text per line or as records (`format`), or of an ESM also FASTA");
  Describe(table, options.source);
  AddEsmPresets(table, options.preset);
  table.Add("--mask-share", options.masking.share, NumberAbove(0, 1), "Share of the tokens that are masked")
      .ShowDefault()
      .Group("Training");
  table.Add("--whole-words", options.masking.whole_words, "Mask all tokens of a word or none").Group("Training");
}

void Describe(OptionTable& table, TextClassifierTraining& options) {
  Describe(table, options, kTextDefaults,
           "text, tab, class, or two texts and their class; or JSON lines of {\"text\", \"text_pair\", \"label\"}");
  AddChoice<Problem>(table, "--problem-type", options.problem,
                     {{ProblemName(Problem::one_label), Problem::one_label},
                      {ProblemName(Problem::several_labels), Problem::several_labels},
                      {ProblemName(Problem::number), Problem::number}},
                     "One class of each text, any number of them, or a number")
      .Default(std::string("as the model's head, else ") + ProblemName(Problem::one_label))
      .Group("Text");
  AddTextFormat(table, options.source.format);
  AddTextColumns(table, options.columns, "Text");
  DescribeClassWeights(table, options.class_weights);
  table.Add("--truncate", options.truncate,
            "Leave out the end of a text that is too long for the model, instead of refusing it");
}

void Describe(OptionTable& table, TokenClassifierTraining& options) {
  Describe(table, options, kTextDefaults, "one word and its tag per line, or JSON lines of {\"tokens\", \"tags\"}");
  AddTextFormat(table, options.source.format);
  DescribeClassWeights(table, options.class_weights);
}

void Describe(OptionTable& table, QuestionAnswererTraining& options) {
  Describe(table, options, kTextDefaults, "SQuAD's .json, or records with question, context and answers");
  AddTextFormat(table, options.source.format);
}

TrainingResult TrainMaskedLanguageModel(MaskedLanguageModelTraining options, const TrainingObserver& observer) {
  if (!options.preset.empty()) ApplyPreset(options, EsmPreset(options.preset));
  return Train(kTasks[0], options, observer);
}

TrainingResult TrainTextClassifier(TextClassifierTraining options, const TrainingObserver& observer) {
  return Train(kTasks[1], options, observer);
}

TrainingResult TrainTokenClassifier(TokenClassifierTraining options, const TrainingObserver& observer) {
  return Train(kTasks[2], options, observer);
}

TrainingResult TrainQuestionAnswerer(QuestionAnswererTraining options, const TrainingObserver& observer) {
  return Train(kTasks[3], options, observer);
}

}  // namespace headlight
