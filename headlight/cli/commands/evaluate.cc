// headlight evaluate: scores a model on a test set, with metrics for its task.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/inspect/drawing/confusion_drawing.h"
#include "headlight/recipes/evaluation.h"

namespace headlight::evaluate {
namespace {

struct Options : Evaluation {
  bool json = false;
  std::string confusion_file;
};

// Checks the output files before any input is read. If files are written, the model's folder is one of the inputs.
void CheckOutputFiles(const Options& options) {
  std::vector<std::string> inputs = options.files;
  inputs.insert(inputs.end(), options.train.begin(), options.train.end());
  inputs.push_back(options.reference);
  if (!options.out.empty() || !options.confusion_file.empty()) inputs.push_back(options.folder);
  CheckOutputs({{"--confusion", options.confusion_file}, {"--out", options.out}}, inputs);
  if (options.confusion_file.empty()) return;
  CheckImagePath(options.confusion_file);
  CheckWritable(options.confusion_file);
}

EvaluationResult Scores(const Options& options) {
  Evaluation evaluation = options;
  evaluation.confusion = !options.confusion_file.empty();
  std::optional<Progress> progress;
  std::string_view shown;
  return Evaluate(evaluation, {.progress =
                                   [&](const char* what, std::int64_t done, std::int64_t total) {
                                     if (done < 0 || what != shown) {
                                       progress.reset();
                                       shown = what;
                                       if (!shown.empty()) progress.emplace(what);
                                     }
                                     if (done >= 0) progress->Show(done, total);
                                   },
                               .note = [](const std::string& text) { Note("{}", text); },
                               .images =
                                   [&](const std::vector<ImageSource>& images) {
                                     CheckNoImage("--confusion", options.confusion_file, images);
                                   }});
}

void Run(const Options& options) {
  CheckOutputFiles(options);
  const EvaluationResult result = Scores(options);
  if (!options.confusion_file.empty())
    DrawConfusions({options.folder, result.labels, result.confusions}, options.confusion_file);
  WriteResult(options.json ? result.scores.Line() + "\n" : result.text);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "evaluate", "Score a model on a test set, by its task", Run);
  command.Add("--json", options.json, "Print one JSON object");
  command.AddFile("--confusion", options.confusion_file,
                  "For classes of images: draw the confusion matrix to this file (.png, .svg or .pdf)");
  Describe(command, options);
  command.footer =
      "\nThe model determines the task and its scores:\n"
      "  classes of texts      accuracy, macro F1; with several labels micro F1; of a regression correlations\n"
      "  classes of tokens     F1, precision and recall of spans, as in conlleval and seqeval\n"
      "  answers               F1 and exact match of SQuAD\n"
      "  masked words          accuracy and bits per mask\n"
      "  language models       perplexity and bits per byte\n"
      "  encoder and decoder   BLEU and chrF, or --metric; with --rouge ROUGE\n"
      "  classes of images     accuracy, macro F1, top-5 accuracy, confusion matrix\n"
      "  encoders of images    accuracy of k-NN (--knn) and of a linear probe (--linear-probe)\n"
      "  images with texts     recall at 1 and 10 among 1,000; with --zero-shot as classes of images\n"
      "  captions              exact matches and BLEU of greedy captions\n"
      "  detectors             average precision of COCO\n"
      "  questions, images     accuracy, also of each kind of question\n"
      "  generators of images  bits per pixel; of a DALL-E bits per code\n"
      "  coders of images      peak signal-to-noise ratio in dB\n"
      "  structures            lDDT of the C alphas, TM-score, precision of contacts\n\n"
      "The loss is the mean negative log-likelihood in nats, without label smoothing and class weights. The "
      "perplexity is its exponential. The documentation of --json describes all scores.\n\n"
      "Examples:\n"
      "  headlight evaluate classifier test.tsv\n"
      "  headlight evaluate names eng.testb --json\n"
      "  headlight evaluate answerer dev-v2.0.json\n"
      "  headlight evaluate gpt2 wiki.test.txt --end\n"
      "  headlight evaluate vit photos/test --confusion confusions.png\n"
      "  headlight evaluate dino photos/test --train photos/train --knn 20 --linear-probe\n"
      "  headlight evaluate clip photos/test --zero-shot --template 'a photo of a {}.'\n"
      "  headlight evaluate imagegpt t10k-images-idx3-ubyte.gz\n"
      "  headlight evaluate detr-resnet-50 instances_val2017.json --images val2017\n"
      "  headlight evaluate vilbert questions.jsonl --detector detr --train train.jsonl\n"
      "  headlight evaluate blip captions_val2017.json --images val2017\n"
      "  headlight evaluate shapes held_out.tsv\n"
      "  headlight evaluate shapes/vae photos/\n"
      "  headlight evaluate folding valid.tsv --train train.tsv\n"
      "  headlight evaluate model test.de --reference test.en --beam-size 5 --length-penalty 0.6\n"
      "  headlight evaluate opus-mt-de-en test.jsonl --source-column de --target-column en\n"
      "  headlight evaluate bart-large-cnn test.jsonl --rouge --stemmer";
}

}  // namespace headlight::evaluate
