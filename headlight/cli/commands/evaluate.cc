// headlight evaluate: the scores of a model on a test set, by its task.
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

// Before anything is read. The folder is one of the inputs if there are files to write.
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
                  "Classes of images: draw the confusion matrix to this file (.png, .svg or .pdf)");
  Describe(command, options);
  command.footer =
      "\nThe model determines the task and its scores:\n"
      "  classes of texts      accuracy and macro F1, and precision, recall and F1 of each class; of several labels "
      "for\n"
      "                        each text micro and macro F1; of a regression Pearson's and Spearman's correlation\n"
      "  classes of tokens     F1, precision and recall of spans, as conlleval and seqeval count, and accuracy\n"
      "  answers               SQuAD's F1 and exact match\n"
      "  masked words          accuracy on 15% of the tokens, the same ones each time, and bits per mask; with "
      "--train\n                        also bits by the frequencies there, and by both neighbours (a trigram)\n"
      "  language models       perplexity and bits per byte of texts, one a line; the token that ends a text is "
      "counted\n"
      "                        with --end only\n"
      "  generators of images  bits per pixel of images, as the model reads them: in its size and colours\n"
      "  classes of images   accuracy, macro F1, top-5 accuracy of more than five classes, precision, recall and "
      "F1\n                        of each class, and the confusion matrix\n"
      "  encoders of images  accuracy by --knn: the nearest by cosine vote, with the weight exp(cosine / 0.07); "
      "and\n                        by --linear-probe: a logistic regression on standardized features, with "
      "scikit-learn's\n                        penalty at C = 1\n"
      "  images with texts   (CLIP, SigLIP) how many images find their own text first among 1,000, and texts "
      "their\n                        own image (text_recall, image_recall), the mean of both, and how many find "
      "it "
      "among\n                        the first ten; with --zero-shot as classes of images\n"
      "  captions              how many greedy captions are one of their image's word for word (exact), and their\n"
      "                        BLEU against all captions of an image\n"
      "  detectors             COCO's AP, at IoU 0.5:0.95, 0.5 and 0.75, and of small, medium and large objects, as\n  "
      "                      pycocotools has them; FILE as `train detection` reads it\n"
      "  questions, images   (ViLBERT) accuracy, also of each kind of question; question_accuracy and kind_accuracy\n"
      "                        are those of the answer that is most frequent for the same question, or for its kind\n"
      "  DALL-E                bits per code of images with texts, and the loss as in training\n"
      "  coders of images    the peak signal-to-noise ratio of decoded images, in dB, and how many codes they "
      "have\n"
      "  structures            (AlphaFold, ESMFold) lDDT of the C alphas, TM-score, and the precision of the best "
      "L/5\n                        contacts at least 24 residues apart (C betas within 8 angstrom); FILE as `train "
      "folding`\n                        reads it. Baselines: contacts by the mutual information of alignments; with "
      "--train the\n                        most typical of these chains, and their mean distances\n"
      "  encoder and decoder   BLEU and chrF, or --metric, as sacreBLEU has them, or with --rouge ROUGE-1, -2, -L\n"
      "                        and -Lsum as the rouge-score package has them; FILE holds pairs as `train\n"
      "                        seq2seq` reads them\n"
      "The loss is the mean negative log-probability (natural logarithm) of the right answers, without label smoothing "
      "and\n"
      "class weights; the perplexity is its exponential.\n\n"
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
      "  headlight evaluate vilbert questions.jsonl --detector detr --train learned.jsonl\n"
      "  headlight evaluate blip captions_val2017.json --images val2017\n"
      "  headlight evaluate shapes held_out.tsv\n"
      "  headlight evaluate shapes/vae photos/\n"
      "  headlight evaluate folding valid.tsv --train train.tsv\n"
      "  headlight evaluate model test.de --reference test.en --beam-size 5 --length-penalty 0.6\n"
      "  headlight evaluate opus-mt-de-en test.jsonl --source-column de --target-column en\n"
      "  headlight evaluate bart-large-cnn test.jsonl --rouge --stemmer";
}

}  // namespace headlight::evaluate
