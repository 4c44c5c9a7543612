#include "headlight/recipes/evaluation.h"

#include <algorithm>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/recipes/evaluate_kinds.h"
#include "headlight/recipes/model_training.h"
#include "headlight/recipes/text_training.h"

namespace headlight {
namespace {

struct EvaluatedKind {
  std::string_view kind;
  EvaluationResult (*evaluate)(const Evaluation& options, const EvaluationObserver& observer);
  const char* files;                      // plural name of the examples in the files, for messages
  std::vector<std::string_view> options;  // names of the options, in addition to --compute
  bool zero_shot = false;                 // if true, the kind is only used with `zero_shot`
};

const std::vector<EvaluatedKind>& EvaluatedKinds() {
  static const std::vector<EvaluatedKind> kinds = {
      {TextEncoder::kKind,
       EvaluateTextEncoder,
       "texts",
       {"--train", "--format", "--text-column", "--text-pair-column", "--label-column", "--truncate"}},
      {LanguageModel::kKind, EvaluateLanguageModel, "texts", {"--end", "--format", "--text-column"}},
      {EncoderDecoder::kKind,
       EvaluatePairs,
       "texts",
       {"--train",
        "--reference",
        "--truncate",
        "--source-column",
        "--target-column",
        "--rouge",
        "--stemmer",
        "--metric",
        "--tokenization",
        "--spm",
        "--lowercase",
        "--out",
        "--shortlist",
        "--draft",
        "--beam-size",
        "--length-penalty",
        "--max-length",
        "--min-length",
        "--no-repeat-ngram-size",
        "--batch-tokens",
        "--task",
        "--prefix",
        "--source-language",
        "--target-language"}},
      {ImageEncoder::kKind,
       EvaluateImageEncoder,
       "images",
       {"--confusion", "--knn", "--linear-probe", "--train", "--pixels", "--most-pixels"}},
      {DualEncoder::kKind,
       EvaluateZeroShot,
       "images",
       {"--zero-shot", "--template", "--confusion", "--most-pixels"},
       /*zero_shot=*/true},
      {DualEncoder::kKind, EvaluateDualEncoder, "images", {"--images", "--most-pixels", "--truncate"}},
      {CaptionModel::kKind, EvaluateCaptionModel, "images", {"--images", "--most-pixels"}},
      {DetectionModel::kKind, EvaluateDetector, "images", {"--images", "--most-pixels"}},
      {ImageGpt::kKind, EvaluateImageGenerator, "images", {"--most-pixels"}},
      {TextToImageModel::kKind, EvaluateDrawer, "images", {"--images", "--most-pixels"}},
      {ImageCoder::kKind, EvaluateImageCoder, "images", {"--most-pixels"}},
      {RegionTextEncoder::kKind, EvaluateRegionTextEncoder, "questions", {"--boxes", "--detector", "--train"}},
      {FoldingModel::kKind, EvaluateFolding, "structures", {"--train"}},
  };
  return kinds;
}

// Returns the name of the models that have an option. Used for options that encoder-decoders do not have.
std::string_view OwnersOf(std::string_view option) {
  if (option == "--end") return "language models";
  if (option == "--format") return "language models and encoders of texts";
  if (option == "--text-column") return "language models, masked words and classes of texts";
  if (option == "--truncate") return "encoders with classes of texts";
  if (option == "--images") return "detectors and models that read images and texts";
  if (option == "--most-pixels") return "models of images";
  if (option == "--zero-shot" || option == "--template") return "CLIP and SigLIP";
  if (option == "--boxes" || option == "--detector") return "models that read regions";
  if (option.ends_with("-column")) return "classifiers of texts";
  return "encoders of images";
}

std::string InBackquotes(std::string_view option) {
  std::string name(option.substr(2));
  std::ranges::replace(name, '-', '_');
  return "`" + name + "`";
}

// Throws Error for an option that does not apply to the kind of model, and if files are missing.
void CheckOptions(Evaluation options, const EvaluatedKind& kind) {
  OptionTable table;
  Describe(table, options);
  table.Add("--confusion", options.confusion, "");
  const std::string a_kind = fmt::format("{} {}", kind.kind.starts_with("encoder") ? "an" : "a", kind.kind);
  for (const auto& option : table.options()) {
    const std::string& name = option->name();
    if (option->is_argument() || name == "--compute" || !option->has_value() ||
        std::ranges::find(kind.options, name) != kind.options.end())
      continue;
    Check(kind.kind != EncoderDecoder::kKind, "{}: {} is for {}", options.folder, InBackquotes(name), OwnersOf(name));
    Fail("{}: {} is not for this model, which is {}", options.folder, InBackquotes(name), a_kind);
  }
  Check(!options.files.empty(), "{}: FILE, the {} to evaluate on, is required for {}", options.folder, kind.files,
        a_kind);
}

}  // namespace

void Describe(OptionTable& table, Evaluation& options) {
  table.Add("DIR", options.folder, "The model's folder, or a GGUF file").Required().Model();
  table.Add("FILE", options.files, "Test set, in the formats that the training of the model's task reads");
  table
      .Add("--images", options.images,
           "Detectors, CLIP, captions, DALL-E: folders of the images, unless they are next to FILE")
      .Check(ExistingFolder())
      .Type("DIR");
  Option& zero_shot =
      table.Add("--zero-shot", options.zero_shot, "CLIP: FILE has images by class, for zero-shot classification");
  table
      .Add("--template", options.templates,
           "Text with {} for a class, as `classify` takes it; repeated: their mean [{}]")
      .Type("TEXT")
      .Check(NotEmpty())
      .OneAtATime()
      .Needs(zero_shot);
  table.Add("--knn", options.knn, AtLeast(1),
            "Image encoders: evaluate the features by k-NN, a vote of the N nearest images of `train` (20 in "
            "DINO's paper)");
  table.Add("--linear-probe", options.linear_probe,
            "Image encoders: evaluate the features by a logistic regression trained on `train`");
  table.AddFile(
      "--train", options.train,
      "Labeled images for `knn` and `linear_probe`, which require it; questions, from which those of FILE are answered "
      "without an image, as a baseline; known structures, or texts for masked words, for baselines without a "
      "model; or the training texts of a translator, for scores of groups: by length, by the "
      "rarest word and by similarity to these texts");
  table.AddFile("--boxes", options.boxes,
                "ViLBERT: boxes in the images, as COCO's files (.json) or folders of Pascal VOC's");
  table.Add("--detector", options.detector, "ViLBERT: folder of a detector that finds the boxes").Model().Type("DIR");
  table.Add("--pixels", options.pixels, "Evaluate the preprocessed pixels instead of the features, as a baseline");
  table
      .Add("--most-pixels", options.most_pixels, Between(1, std::int64_t{1} << 40),
           "Image models: refuse images with more pixels than this")
      .Default(fmt::format("{}", kMostPixels));
  Describe(table, options.source_of_texts);
  table.Add("--truncate", options.truncate,
            "Leave out the end of a text that is too long for the model, instead of refusing it (text classifiers, "
            "encoder-decoders, CLIP, SigLIP)");
  table.Add("--end", options.end, "Language models: also count the token that ends each text");
  AddPairAndLabelColumns(table, options.columns, "Options");
  AddPairColumns(table, options.pairs, "Options");
  table.AddFile("--reference", options.reference,
                "Reference translations or summaries, line by line those of the texts in FILE");
  table.Add("--rouge", options.rouge, "Score summaries: ROUGE instead of `metric`");
  table.Add("--stemmer", options.stemmer, "ROUGE compares words by their English stems (Porter)");
  Describe(table, options.metrics);
  table.AddFile("--out", options.out, "Write the model's texts to this file");
  AddTranslationOptions(table, options.load, options.translate);
  AddTaskOptions(table, options.translate);
}

EvaluationResult Evaluate(const Evaluation& options, const EvaluationObserver& observer) {
  const std::string_view kind = FamilyOf(OpenModelFolder(options.folder)).kind;
  const std::vector<EvaluatedKind>& kinds = EvaluatedKinds();
  const auto found = std::ranges::find_if(
      kinds, [&](const EvaluatedKind& one) { return one.kind == kind && (options.zero_shot || !one.zero_shot); });
  Ensure(found != kinds.end(), "no evaluation of a {}", kind);
  CheckOptions(options, *found);
  return found->evaluate(options, observer);
}

}  // namespace headlight
