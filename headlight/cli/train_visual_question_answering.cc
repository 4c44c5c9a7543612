// headlight train visual-question-answering: answers to questions about pictures, from the regions that boxes hold.
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/region_questions.h"
#include "headlight/cli/region_training.h"
#include "headlight/data/labels.h"
#include "headlight/data/picture_questions.h"
#include "headlight/models/family.h"
#include "headlight/train/tasks/visual_question_answering.h"

namespace headlight::train_visual_question_answering {
namespace {

PictureQuestions Read(const std::vector<std::string>& paths, const TextShare& share, const char* purpose,
                      TrainingProgress& progress) {
  PictureQuestions read = ReadPictureQuestions(paths, share);
  CheckNotEmpty(read.questions.size(), "questions", paths, share);
  progress.Note(fmt::format("{}: {} questions about {} pictures to {}", fmt::join(paths, ", "), read.questions.size(),
                            read.pictures.size(), purpose));
  return read;
}

// The answers of a training, in order.
std::vector<std::string> AnswersOf(const PictureQuestions& questions) {
  std::vector<std::string> labels;
  for (const AnsweredQuestion& question : questions.questions)
    NumberOfLabel(question.answer, labels, NewLabels::added, question.place);
  SortLabels(labels);
  return labels;
}

// The model of --from, with a head for these answers; they become the model's own where it knows all of them.
std::unique_ptr<RegionTextEncoder> ModelFor(const RegionTrainingOptions& options, std::vector<std::string>& labels,
                                            TrainingProgress& progress) {
  std::unique_ptr<RegionTextEncoder> model =
      LoadModel<RegionTextEncoder>(options.from, {.dropout = options.chosen_dropout()});
  const std::vector<std::string>& known = model->labels();
  const auto knows = [&](const std::string& label) { return std::ranges::find(known, label) != known.end(); };
  if (std::ranges::all_of(labels, knows)) {
    labels = known;
    return model;
  }
  progress.Note(fmt::format("{}: {}; a new head for {} is initialised", options.from,
                            known.empty() ? "no head for answers" : "it does not know all answers", labels.size()));
  return GiveAnswers(*model, labels, options.training.seed);
}

std::uint64_t HashOfQuestions(const VisualQuestions& set) {
  Hash64 hash;
  AddToHash(hash, set.pictures);
  for (const VisualQuestion& question : set.questions) {
    hash.Update({reinterpret_cast<const char*>(question.ids.data()), question.ids.size() * sizeof(question.ids[0])});
    const std::int64_t rest[] = {static_cast<std::int64_t>(question.picture), question.answer};
    hash.Update({reinterpret_cast<const char*>(rest), sizeof(rest)});
  }
  return hash.value();
}

void Run(RegionTrainingOptions& options) {
  const TrainingFolder folder = BeginRegionTraining(options);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.folder());
  TrainingProgress progress(Quiet(), "questions");
  const PictureQuestions learned = Read(options.train, options.learned(), "learn from", progress);
  const PictureQuestions validated = Read(options.validation(), options.validated(), "validate on", progress);
  std::vector<std::string> labels = AnswersOf(learned);
  std::unique_ptr<RegionTextEncoder> model;
  if (options.from_scratch()) {
    VilbertConfig config = NewVilbertConfig(options, tokenizer.size());
    config.labels = labels;
    model = std::make_unique<Vilbert>(config);
    model->parameters().Initialise(options.training.seed);
  } else {
    model = ModelFor(options, labels, progress);
    Check(tokenizer.size() <= model->limits().vocabulary, "{}: the tokenizer has {} tokens, and the model {}",
          options.from, tokenizer.size(), model->limits().vocabulary);
  }
  const PictureBoxes boxes(options.boxes, options.detector);
  std::vector<std::string> kinds;
  const QuestionReading reading = {tokenizer, *model, boxes, labels, kinds};
  VisualQuestions train = InNumbers(learned, reading), valid = InNumbers(validated, reading);
  if (kinds.size() > 1) train.kinds = valid.kinds = kinds;
  RunRegionTraining(VisualQuestionTask(*model, train, valid, options.batches), options, "visual-question-answering",
                    "headlight answer", HashOfQuestions(train), progress);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<RegionTrainingOptions>();
  Command& command = train.AddCommand("visual-question-answering",
                                      "Train a model to answer questions about pictures (from scratch a ViLBERT)");
  AddRegionTrainingOptions(
      command, *options,
      "Questions to train on: JSON lines or CSV of path, question and answer, or a .tsv file of them",
      "Questions per batch");
  command.footer =
      "\nA picture is read as a whole and as the pixels of each box. The answers are those of the training: another "
      "one\n"
      "is never right. Where the questions have a \"kind\", validations report the accuracy of each. --from a model\n"
      "without a head for all answers, such as one that was pre-trained, initialises a new head.\n\n"
      "Example:\n"
      "  headlight train visual-question-answering --train scenes/questions.en.jsonl --valid more/questions.en.jsonl "
      "\\\n"
      "    --boxes scenes/annotations.json more/annotations.json --tokenizer tokens --out model";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_visual_question_answering
