// headlight classify: classifies texts and images.
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/pipelines/image_classifier.h"
#include "headlight/pipelines/text_classifier.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/text/printable.h"

namespace headlight::classify {
namespace {

struct Options : LineOptions {
  std::string folder;
  std::vector<std::string> inputs, labels, templates;
  std::int64_t top = 0;  // 0: the default of the problem type
  std::optional<Compute> compute;
  const Option* most_pixels = nullptr;
};

// Returns the number of labels to print for each text or image, or nullopt for all labels.
std::optional<std::int64_t> TopK(Problem problem, const Options& options) {
  if (options.top > 0) return options.top;
  return !options.json && problem == Problem::one_label ? std::optional<std::int64_t>(1) : std::nullopt;
}

// The output for a text or image: its classes as JSON, or separated by tabs.
struct Row {
  Json::Array json;
  std::string text;
};

Row RowOf(const std::vector<LabelScore>& labels, Problem problem, const Options& options) {
  const bool likely = problem == Problem::several_labels && options.top == 0;  // if true, prints only probable labels
  Row row;
  for (const auto& [label, score] : labels) {
    row.json.push_back(Json::Object{{"label", label}, {"score", score}});
    if (likely && score < 0.5F) continue;
    row.text += fmt::format("{}{}\t{:.4f}", row.text.empty() ? "" : "\t", InRow(label), score);
  }
  return row;
}

void ClassifyTexts(const Options& options) {
  const TextClassifier classifier =
      Loaded([&] { return TextClassifier::Load(options.folder, {.compute = options.compute}); });
  const auto rows = [&](const LineBatch& batch) {
    std::vector<TextOrPair> texts;
    for (std::size_t line = 0; line < batch.lines.size(); ++line) {
      auto [text, second] = OneOrTwoTexts(batch, line);
      texts.push_back({std::move(text), std::move(second)});
    }
    std::vector<std::size_t> truncated;
    const auto classified =
        classifier.Classify(texts, {.top_k = TopK(classifier.problem(), options),
                                    .truncate = options.truncate,
                                    .name_of = batch.name_of,
                                    .on_truncated = [&](std::size_t i) { truncated.push_back(i); }});
    for (const std::size_t text : truncated) NoteTruncated(batch.name_of(text), classifier.longest());
    std::vector<std::string> printed;
    for (const std::vector<LabelScore>& labels : classified) {
      Row row = RowOf(labels, classifier.problem(), options);
      const std::int64_t line = batch.first + std::ssize(printed);
      if (options.json) row.text = Json(Json::Object{{"line", line}, {"classes", std::move(row.json)}}).Line();
      printed.push_back(row.text + "\n");
    }
    return printed;
  };
  ForEachLineBatch(options, "lines classified", BytesAhead(ClassifyOptions().batch_tokens), rows);
}

ImageClassifier LoadImageClassifier(const Options& options) {
  return Loaded([&] {
    const LoadOptions how = {.compute = options.compute};
    if (options.labels.empty()) return ImageClassifier::Load(options.folder, how);
    if (options.templates.empty()) return ImageClassifier::LoadZeroShot(options.folder, options.labels, {"{}"}, how);
    return ImageClassifier::LoadZeroShot(options.folder, options.labels, options.templates, how);
  });
}

void ClassifyImages(const Options& options) {
  const std::vector<ImageSource> sources = ListInputImages(options.inputs);
  const ImageClassifier classifier = LoadImageClassifier(options);
  const auto rows = [&](const FittedBatch& batch) {
    const ClassifyImageOptions how = {.top_k = TopK(classifier.problem(), options), .name_of = batch.name_of};
    std::vector<std::string> printed;
    for (const std::vector<LabelScore>& labels : classifier.ClassifyFitted(batch.fitted, how)) {
      Row row = RowOf(labels, classifier.problem(), options);
      const std::string name = batch.sources[printed.size()].name();
      printed.push_back((options.json ? Json(Json::Object{{"image", name}, {"classes", std::move(row.json)}}).Line()
                                      : InRow(name) + "\t" + row.text) +
                        "\n");
    }
    return printed;
  };
  ForEachImageBatch(
      options, sources, "images classified", [&](const Image& image) { return classifier.Fit(image); }, rows);
}

void Run(const Options& options) {
  const ImageClasses classes = ImageClassesOf(options.folder);
  const bool described = classes == ImageClasses::described;
  Check(described || options.labels.empty(), "{}: --labels is for CLIP and SigLIP, and this model has its own classes",
        options.folder);
  Check(!described || !options.labels.empty(), "{}: this model has no classes; name them with --labels",
        options.folder);
  if (classes != ImageClasses::none) {
    Check(!options.truncate, "{}: --truncate is for texts, and this model reads images", options.folder);
    RefuseTextOptions(options.source, "this model reads images");
    return ClassifyImages(options);
  }
  Check(!options.most_pixels->given(), "{}: --most-pixels is for images, and this model reads texts", options.folder);
  Options texts = options;
  texts.input = OneInput(options.folder, options.inputs);
  ClassifyTexts(texts);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "classify", "Classify texts, text pairs or images", Run);
  AddFolder(command, options.folder,
            "Folder of a model with a classification head, such as a BERT or a ViT, or of a CLIP or SigLIP");
  command.Add("FILE", options.inputs,
              "For models of texts: a text per line, or two separated by a tab, or records of one or two texts (see "
              "--format), plain or gzip. For models of images: JPEG, PNG, WebP, BMP, GIF, TIFF or IDX files (MNIST's "
              "format), folders of images, patterns such as '*.jpg'. - is standard input [-]");
  Option& labels = command.Add("--labels", options.labels, "Names of the classes, for a CLIP or SigLIP")
                       .Type("TEXT")
                       .Check(NotEmpty());
  command
      .Add("--template", options.templates,
           "Text with {} for the class, such as 'a photo of a {}.'; if repeated, embeddings are "
           "averaged [{}]")
      .Type("TEXT")
      .Check(NotEmpty())
      .OneAtATime()
      .Needs(labels);
  command.Add("--top-k", options.top, AtLeast(1),
              "Print the N most probable classes [1, with --json all; with several labels those of at least "
              "0.5; of a regression all numbers]");
  AddTruncate(command, options);
  command.Add("--json", options.json, "Print one JSON object per line or image");
  options.most_pixels = &AddMostPixels(command);
  options.source.asked = TextsAsked::texts;
  Describe(command, options.source);
  AddSkipErrors(command, options, ReadBy::either);
  AddComputeOption(command, options.compute);
  command.footer =
      "\nEach line of the output is LABEL<tab>PROBABILITY, and further classes follow after tabs. For images the "
      "path comes first, with #N for an image of an IDX file. problem_type in config.json says whether the "
      "probabilities of the classes sum to 1, are independent, or are numbers of a regression. The "
      "probabilities of --labels sum to 1 with a CLIP, and are independent with a SigLIP.\n\n"
      "Examples:\n"
      "  echo 'What a film!' | headlight classify bert-sentiment\n"
      "  headlight classify bert-mnli pairs.tsv --json\n"
      "  headlight classify vit-base-patch16-224 cat.jpg photos/ --top-k 5\n"
      "  headlight classify clip-vit-base-patch32 photos/ --labels cat dog --template 'a photo of a {}.'";
}

}  // namespace headlight::classify
