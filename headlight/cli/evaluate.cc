// headlight evaluate: the scores of a model on a test set, by its task.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/evaluate_captions.h"
#include "headlight/cli/evaluate_drawings.h"
#include "headlight/cli/evaluate_dual.h"
#include "headlight/cli/evaluate_folding.h"
#include "headlight/cli/evaluate_images.h"
#include "headlight/cli/evaluate_options.h"
#include "headlight/cli/evaluate_pairs.h"
#include "headlight/cli/evaluate_pictures.h"
#include "headlight/cli/evaluate_regions.h"
#include "headlight/cli/evaluate_texts.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/translation_options.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/drawing_model.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/kinds/object_detector.h"
#include "headlight/kinds/picture_coder.h"
#include "headlight/kinds/picture_encoder.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"

namespace headlight::evaluate {
namespace {

struct Options : EvaluateOptions {
  const OptionTable* command = nullptr;
};

// Refuses options that a model's task does not have, and asks for files.
void CheckOptions(const Options& options, std::string_view kind, std::initializer_list<std::string_view> own) {
  for (const auto& option : options.command->options()) {
    const std::string name = option->name();
    if (!option->given() || !name.starts_with("--")) continue;
    const auto is = [&](std::initializer_list<std::string_view> names) {
      return std::ranges::find(names, name) != names.end();
    };
    Check(is({"--json", "--compute", "--threads", "--quiet"}) || is(own),
          "{}: {} is not for this model, which is {} {}", options.folder, name,
          kind.starts_with("encoder") ? "an" : "a", kind);
  }
  const bool pictures = kind == ImageGpt::kKind || kind == ObjectDetector::kKind || kind == PictureEncoder::kKind ||
                        kind == DualEncoder::kKind || kind == CaptionModel::kKind || kind == DrawingModel::kKind ||
                        kind == PictureCoder::kKind;
  Check(!options.files.empty(), "{}: FILE, the {} to evaluate on, is required for {} {}", options.folder,
        kind == RegionTextEncoder::kKind ? "questions"
        : kind == FoldingModel::kKind    ? "structures"
        : pictures                       ? "pictures"
                                         : "texts",
        kind.starts_with("encoder") ? "an" : "a", kind);
}

void Run(const Options& options) {
  const std::string_view kind = FamilyOf(OpenModelFolder(options.folder)).kind;
  if (kind == TextEncoder::kKind) {
    CheckOptions(options, kind, {"--train"});
    EvaluateEncoder(options);
  } else if (kind == LanguageModel::kKind) {
    CheckOptions(options, kind, {"--end"});
    EvaluateLanguageModel(options);
  } else if (kind == ImageGpt::kKind) {
    CheckOptions(options, kind, {"--most-pixels"});
    EvaluateImageGenerator(options);
  } else if (kind == ObjectDetector::kKind) {
    CheckOptions(options, kind, {"--pictures", "--most-pixels"});
    EvaluateDetector(options);
  } else if (kind == DualEncoder::kKind) {
    if (options.zero_shot) {
      CheckOptions(options, kind, {"--zero-shot", "--template", "--confusion", "--most-pixels"});
      EvaluateZeroShot(options);
    } else {
      CheckOptions(options, kind, {"--pictures", "--most-pixels"});
      EvaluateDualEncoder(options);
    }
  } else if (kind == CaptionModel::kKind) {
    CheckOptions(options, kind, {"--pictures", "--most-pixels"});
    EvaluateCaptionModel(options);
  } else if (kind == DrawingModel::kKind) {
    CheckOptions(options, kind, {"--pictures", "--most-pixels"});
    EvaluateDrawer(options);
  } else if (kind == PictureCoder::kKind) {
    CheckOptions(options, kind, {"--most-pixels"});
    EvaluatePictureCoder(options);
  } else if (kind == RegionTextEncoder::kKind) {
    CheckOptions(options, kind, {"--boxes", "--detector", "--train"});
    EvaluateRegionTextEncoder(options);
  } else if (kind == FoldingModel::kKind) {
    CheckOptions(options, kind, {"--train"});
    EvaluateFolding(options);
  } else if (kind == PictureEncoder::kKind) {
    CheckOptions(options, kind, {"--confusion", "--knn", "--linear-probe", "--train", "--pixels", "--most-pixels"});
    EvaluatePictureEncoder(options);
  } else {
    Check(options.files.empty() == (!options.source.empty() && !options.reference.empty()),
          "{}: either FILE, pairs of texts, or --source and --reference", options.folder);
    Check(!options.end, "{}: --end is for language models", options.folder);
    Check(options.pictures.empty(), "{}: --pictures is for detectors and models of pictures with texts",
          options.folder);
    Check(!options.command->Given("--most-pixels"), "{}: --most-pixels is for models of pictures", options.folder);
    Check(!options.zero_shot, "{}: --zero-shot is for CLIP and SigLIP", options.folder);
    for (const char* name : {"--confusion", "--knn", "--linear-probe", "--pixels"})
      Check(!options.command->Given(name), "{}: {} is for encoders of pictures", options.folder, name);
    for (const char* name : {"--boxes", "--detector"})
      Check(!options.command->Given(name), "{}: {} is for models that read regions", options.folder, name);
    Check(!options.stemmer || options.rouge, "--stemmer is for --rouge");
    Check(!options.lowercase || !options.rouge, "--lowercase is for BLEU and chrF; ROUGE has no case");
    EvaluatePairs(options);
  }
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(
      program, "evaluate", "Score a model on a test set: accuracy, F1, perplexity, AP, BLEU, ROUGE, by its task", Run);
  options.command = &command;
  command.Add("DIR", options.folder, "The model's folder").Required().Check(ExistingFolder());
  command.Add("FILE", options.files, "Test set, in the formats that the training of the model's task reads");
  command.Add("--json", options.json, "Print one JSON object");
  command
      .Add("--pictures", options.pictures,
           "Detectors, CLIP, captions, DALL-E: folders of the pictures, unless they lie beside FILE")
      .Check(ExistingFolder())
      .Type("DIR");
  command
      .Add("--confusion", options.confusions,
           "Classes of pictures: draw the confusion matrix to this file (.png, .svg or .pdf)")
      .Check(NotEmpty())
      .Type("FILE");
  Option& zero_shot = command.Add("--zero-shot", options.zero_shot,
                                  "CLIP: FILE holds pictures by class, which are found by the classes' names");
  command
      .Add("--template", options.templates,
           "A text with {} in the place of a class, as `classify` takes it; repeated, the mean of all is taken "
           "[{}]")
      .Type("TEXT")
      .Check(NotEmpty())
      .OneAtATime()
      .Needs(zero_shot);
  command.Add("--knn", options.neighbours, AtLeast(1),
              "Encoders of pictures: evaluate the features by k-NN, a vote of the N nearest pictures of --train (20 in "
              "DINO's paper)");
  command.Add("--linear-probe", options.linear_probe,
              "Encoders of pictures: evaluate the features by a logistic regression trained on --train");
  command
      .Add("--train", options.train,
           "Labelled pictures for --knn and --linear-probe [FILE]; questions, from which those of FILE are answered "
           "without a picture, as a baseline; known structures, or texts for masked words, for baselines without a "
           "model; or the texts that "
           "a translator has learned to read, for scores of "
           "groups: by length, by the rarest word and by likeness to these texts")
      .Check(NotEmpty())
      .Type("FILE");
  command
      .Add("--boxes", options.boxes,
           "ViLBERT: boxes in the pictures, as COCO's files (.json) or folders of Pascal VOC's")
      .Check(NotEmpty())
      .Type("FILE");
  command.Add("--detector", options.detector, "ViLBERT: folder of a detector that finds the boxes")
      .Check(ExistingFolder())
      .Type("DIR");
  command.Add("--pixels", options.pixels, "Evaluate the preprocessed pixels instead of the features, as a baseline");
  AddMostPixels(command).Describe("Models of pictures: refuse pictures with more pixels than this");
  command.Add("--end", options.end, "Language models: also count the token that ends each text");
  command.Add("--source", options.source, "Instead of FILE: texts to read, one per line")
      .Check(NotEmpty())
      .Type("FILE");
  command.Add("--reference", options.reference, "Their reference translations or summaries")
      .Check(NotEmpty())
      .Type("FILE");
  command.Add("--rouge", options.rouge, "Score summaries: ROUGE instead of BLEU and chrF");
  command.Add("--stemmer", options.stemmer, "ROUGE compares words by their English stems (Porter)");
  command.Add("--lowercase", options.lowercase, "BLEU and chrF ignore case");
  command.Add("--output", options.output, "Write the model's texts to this file").Check(NotEmpty()).Type("FILE");
  AddTranslationOptions(command, options.load, options.translate);
  AddTaskOptions(command, options.translate);
  command.footer =
      "\nThe model determines the task and its scores:\n"
      "  classes of texts      accuracy and macro F1, and precision, recall and F1 of each class\n"
      "  classes of tokens     F1, precision and recall of spans, as conlleval and seqeval count, and accuracy\n"
      "  answers               SQuAD's F1 and exact match\n"
      "  masked words          accuracy on 15% of the tokens, the same ones each time, and bits per mask; with "
      "--train\n                        also bits by the frequencies there, and by both neighbours (a trigram)\n"
      "  language models       perplexity and bits per byte of texts, one a line; the token that ends a text is "
      "counted\n"
      "                        with --end only\n"
      "  generators of pictures  bits per pixel of pictures, as the model reads them: in its size and colours\n"
      "  classes of pictures   accuracy, macro F1, top-5 accuracy of more than five classes, precision, recall and "
      "F1\n                        of each class, and the confusion matrix\n"
      "  encoders of pictures  accuracy by --knn: the nearest by cosine vote, with the weight exp(cosine / 0.07); "
      "and\n                        by --linear-probe: a logistic regression on standardized features, with "
      "scikit-learn's\n                        penalty at C = 1\n"
      "  pictures with texts   (CLIP, SigLIP) how many pictures find their own text first among 1,000, and texts "
      "their\n                        own picture (text_recall, picture_recall), the mean of both, and how many find "
      "it "
      "among\n                        the first ten; with --zero-shot as classes of pictures\n"
      "  captions              how many greedy captions are one of their picture's word for word (exact), and their\n"
      "                        BLEU against all captions of a picture\n"
      "  detectors             COCO's AP, at IoU 0.5:0.95, 0.5 and 0.75, and of small, medium and large objects, as\n  "
      "                      pycocotools has them; FILE as `train detection` reads it\n"
      "  questions, pictures   (ViLBERT) accuracy, also of each kind of question; question_accuracy and kind_accuracy\n"
      "                        are those of the answer that is most frequent for the same question, or for its kind\n"
      "  DALL-E                bits per code of pictures with texts, and the loss as in training\n"
      "  coders of pictures    the peak signal-to-noise ratio of decoded pictures, in dB, and how many codes they "
      "have\n"
      "  structures            (AlphaFold, ESMFold) lDDT of the C alphas, TM-score, and the precision of the best "
      "L/5\n                        contacts at least 24 residues apart (C betas within 8 angstrom); FILE as `train "
      "folding`\n                        reads it. Baselines: contacts by the mutual information of alignments; with "
      "--train the\n                        most typical of these chains, and their mean distances\n"
      "  encoder and decoder   BLEU and chrF as sacreBLEU has them, or with --rouge ROUGE-1, -2, -L and -Lsum as the\n"
      "                        rouge-score package has them; FILE holds pairs as `train seq2seq` reads them\n"
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
      "  headlight evaluate detr-resnet-50 instances_val2017.json --pictures val2017\n"
      "  headlight evaluate vilbert questions.jsonl --detector detr --train learned.jsonl\n"
      "  headlight evaluate blip captions_val2017.json --pictures val2017\n"
      "  headlight evaluate shapes held_out.tsv\n"
      "  headlight evaluate shapes/vae photos/\n"
      "  headlight evaluate folding valid.tsv --train train.tsv\n"
      "  headlight evaluate model --source test.de --reference test.en --beam-size 5 --length-penalty 0.6\n"
      "  headlight evaluate bart-large-cnn test.jsonl --rouge --stemmer";
}

}  // namespace headlight::evaluate
