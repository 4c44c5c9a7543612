#include "headlight/recipes/train_visual_question_answering.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/data/image_questions.h"
#include "headlight/data/labels.h"
#include "headlight/models/family.h"
#include "headlight/recipes/region_questions.h"
#include "headlight/train/objectives/visual_question_answering.h"

namespace headlight {
namespace {

ImageQuestions ReadQuestionFiles(const VisualQuestionAnsweringTraining& options, const std::vector<std::string>& paths,
                                 const TextShare& share, const char* purpose, const TrainingObserver& observer) {
  ImageQuestions read = ReadImageQuestions(paths, share);
  const std::vector<bool> readable = ReadablePaths(read.images, options, observer);
  std::erase_if(read.questions, [&](const AnsweredQuestion& question) { return !readable[question.image]; });
  std::vector<std::size_t> index;  // index of each image among the readable images
  std::vector<std::string> images;
  for (std::size_t i = 0; i < readable.size(); ++i) {
    index.push_back(images.size());
    if (readable[i]) images.push_back(std::move(read.images[i]));
  }
  read.images = std::move(images);
  for (AnsweredQuestion& question : read.questions) question.image = index[question.image];
  CheckNotEmpty(read.questions.size(), "questions", paths, share);
  Note(observer,
       fmt::format("{}: {} about {} to {}", fmt::join(paths, ", "), Counted(read.questions.size(), "question"),
                   Counted(read.images.size(), "image"), purpose));
  return read;
}

// Returns the distinct answers in the training data, sorted.
std::vector<std::string> AnswersOf(const ImageQuestions& questions) {
  std::vector<std::string> labels;
  for (const AnsweredQuestion& question : questions.questions)
    NumberOfLabel(question.answer, labels, NewLabels::added, question.location);
  SortLabels(labels);
  return labels;
}

// Loads the model of `from`, with a head for these answers. If the model has all of these answers, sets `labels` to the
// model's answers.
std::unique_ptr<RegionTextEncoder> ModelFor(const RegionTraining& options, std::vector<std::string>& labels,
                                            const TrainingObserver& observer) {
  std::unique_ptr<RegionTextEncoder> model =
      LoadModel<RegionTextEncoder>(options.from, {.dropout = options.chosen_dropout()});
  const std::vector<std::string>& known = model->labels();
  const auto knows = [&](const std::string& label) { return std::ranges::find(known, label) != known.end(); };
  if (std::ranges::all_of(labels, knows)) {
    labels = known;
    return model;
  }
  Note(observer, fmt::format("{}: {}; a new head for {} is initialized", options.from,
                             known.empty() ? "no head for answers" : "it does not have all answers", labels.size()));
  return AddAnswers(*model, labels, options.seed);
}

std::uint64_t HashOfQuestions(const VisualQuestions& set) {
  Hash64 hash;
  AddToHash(hash, set.images);
  for (const VisualQuestion& question : set.questions) {
    hash.Update({reinterpret_cast<const char*>(question.ids.data()), question.ids.size() * sizeof(question.ids[0])});
    const std::int64_t rest[] = {static_cast<std::int64_t>(question.image), question.answer};
    hash.Update({reinterpret_cast<const char*>(rest), sizeof(rest)});
  }
  return hash.value();
}

}  // namespace

void Describe(OptionTable& table, VisualQuestionAnsweringTraining& options) {
  Describe(table, options,
           "Questions to train on: JSON lines or CSV of path, question and answer, or a .tsv file of them",
           "Questions per batch");
}

TrainingResult TrainVisualQuestionAnswering(VisualQuestionAnsweringTraining options, const TrainingObserver& observer) {
  const TrainingPlan plan = CompleteTraining(options, kRegionDefaults);
  const TrainingFolder folder = BeginRegionTraining(options);
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.tokenizer_folder());
  const ImageQuestions learned = ReadQuestionFiles(options, options.train, options.learned(), "train on", observer);
  const ImageQuestions validated =
      ReadQuestionFiles(options, options.validation(), options.validated(), "validate on", observer);
  std::vector<std::string> labels = AnswersOf(learned);
  std::unique_ptr<RegionTextEncoder> model;
  if (options.from_scratch()) {
    VilbertConfig config = NewVilbertConfig(options, plan, tokenizer.size());
    config.labels = labels;
    model = std::make_unique<Vilbert>(config);
    model->parameters().Initialize(options.seed);
  } else {
    model = ModelFor(options, labels, observer);
    Check(tokenizer.size() <= model->limits().vocabulary, "{}: the tokenizer has {} tokens, and the model {}",
          options.from, tokenizer.size(), model->limits().vocabulary);
  }
  const ImageBoxes boxes(options.boxes, options.detector);
  std::vector<std::string> kinds;
  const QuestionReading reading = {tokenizer, *model, boxes, labels, kinds};
  VisualQuestions train = InNumbers(learned, reading), valid = InNumbers(validated, reading);
  if (kinds.size() > 1) train.kinds = valid.kinds = kinds;
  return RunRegionTraining(VisualQuestionTask(*model, train, valid, plan.batches), options, plan,
                           "visual-question-answering", "questions", HashOfQuestions(train), observer);
}

}  // namespace headlight
