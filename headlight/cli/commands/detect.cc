// headlight detect: detects objects in images.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/detection.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/inspect/drawing/box_drawing.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/object_detector.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/text/printable.h"

namespace headlight::detect {
namespace {

struct Options : LineOptions {
  std::string folder;
  std::vector<std::string> inputs;
  double threshold = 0.5;
  std::string out, coco, annotations;
  std::optional<Compute> compute;
};

Json JsonOf(const DetectedObject& found) {
  const Box& box = found.box;
  Json::Array sides;
  for (const double side : {box.left, box.top, box.right, box.bottom}) sides.push_back(static_cast<float>(side));
  return Json::Object{{"label", found.label}, {"score", static_cast<float>(found.score)}, {"box", std::move(sides)}};
}

// Writes results in COCO's format, with the image and category ids of an annotation file.
class CocoResults {
 public:
  CocoResults(const std::string& annotations, const std::vector<ImageSource>& sources,
              const std::vector<std::string>& labels) {
    const CocoNames names = ReadCocoNames(annotations);
    const std::map<std::string, std::int64_t> images(names.images.begin(), names.images.end());
    for (const ImageSource& source : sources) {
      const auto image = images.find(std::filesystem::path(source.name()).filename());
      Check(image != images.end(), "--annotations {}: it lists no image with the file name of {}", annotations,
            source.name());
      images_.push_back(image->second);
    }
    bool any = false;
    for (const std::string& label : labels) {
      const auto category = std::ranges::find(names.categories, label, &std::pair<std::string, std::int64_t>::first);
      categories_.push_back(category == names.categories.end() ? std::nullopt : std::optional(category->second));
      any = any || categories_.back();
    }
    Check(any, "--annotations {}: none of its categories is a label of the model", annotations);
  }

  // Adds the boxes of an image. Boxes of classes that are not in the annotations are omitted, because COCO's evaluation
  // ignores them.
  void Add(std::size_t image, const std::vector<DetectedObject>& found) {
    for (const auto& [label, score, box, label_id] : found) {
      const std::optional<std::int64_t> category = categories_[static_cast<std::size_t>(label_id)];
      if (!category) {
        ++left_out_;
        continue;
      }
      Json::Array corner_and_size;
      for (const double number : {box.left, box.top, box.width(), box.height()})
        corner_and_size.push_back(static_cast<float>(number));
      results_.push_back(Json::Object{{"image_id", images_[image]},
                                      {"category_id", *category},
                                      {"bbox", std::move(corner_and_size)},
                                      {"score", static_cast<float>(score)}});
    }
  }
  void Write(const std::string& path) && {
    WriteFile(path, Json(std::move(results_)).Line() + "\n");
    if (left_out_ > 0)
      Note("{}: {} boxes are left out: their labels are not among the categories of the annotations", path, left_out_);
  }

 private:
  std::vector<std::int64_t> images_;                     // the id of each image
  std::vector<std::optional<std::int64_t>> categories_;  // the id of each label
  Json::Array results_;
  std::int64_t left_out_ = 0;
};

std::string RowsOf(const std::string& name, const std::vector<DetectedObject>& found, bool json) {
  if (json) {
    Json::Array boxes;
    for (const DetectedObject& one : found) boxes.push_back(JsonOf(one));
    return Json(Json::Object{{"image", name}, {"boxes", std::move(boxes)}}).Line() + "\n";
  }
  std::string rows;
  for (const auto& [label, score, box, label_id] : found)
    rows += fmt::format("{}\t{}\t{:.4f}\t{:.1f}\t{:.1f}\t{:.1f}\t{:.1f}\n", InRow(name), InRow(label), score, box.left,
                        box.top, box.right, box.bottom);
  return rows;
}

std::vector<FoundBox> BoxesOf(const std::vector<DetectedObject>& found) {
  std::vector<FoundBox> boxes;
  for (const DetectedObject& one : found) boxes.push_back({one.box, one.label_id, one.score});
  return boxes;
}

void Run(const Options& options) {
  CheckKind<DetectionModel>(options.folder);  // checked before the images are listed
  const std::vector<ImageSource> sources = ListInputImages(options.inputs);
  const ImageOutputs drawings = OutputsOf("--out", options.out, sources, {".png", ".svg", ".pdf"});
  PrepareOutputs({drawings}, {{"--coco", options.coco}}, sources, {options.folder, options.annotations});
  const ObjectDetector detector =
      Loaded([&] { return ObjectDetector::Load(options.folder, {.compute = options.compute}); });
  const std::vector<std::string>& labels = detector.labels();
  std::optional<CocoResults> coco;
  if (!options.coco.empty()) {
    coco.emplace(options.annotations, sources, labels);
    CheckWritable(options.coco);
  }

  // Keeps a single image for drawing, because standard input can be read only once. Other images are read again.
  std::optional<Image> only;
  const auto fit = [&](const Image& image) {
    if (sources.size() == 1 && !drawings.paths.empty()) only = image;
    return detector.Fit(image);
  };
  const auto rows = [&](const FittedBatch& batch) {
    const std::vector<std::vector<DetectedObject>> found =
        detector.DetectFitted(batch.fitted, batch.sizes, {.threshold = options.threshold, .name_of = batch.name_of});
    const auto first = static_cast<std::size_t>(batch.first);
    std::vector<std::string> printed;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!drawings.paths.empty())
        DrawBoxes(only ? *only : ReadImage(batch.sources[i], MostPixels()), BoxesOf(found[i]), labels,
                  drawings.paths[first + i]);
      printed.push_back(RowsOf(batch.sources[i].name(), found[i], options.json));
    }
    if (coco)
      for (std::size_t i = 0; i < found.size(); ++i) coco->Add(first + i, found[i]);
    return printed;
  };
  ForEachImageBatch(options, sources, "images searched", fit, rows);
  if (coco) std::move(*coco).Write(options.coco);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "detect", "Detect objects in images", Run);
  command.Add("DIR", options.folder, "Folder of a DETR").Required().Model();
  command.Add("FILE", options.inputs,
              "JPEG, PNG, WebP, BMP, GIF, TIFF or IDX files (MNIST's format), folders of images, patterns such as "
              "'*.jpg'; - is standard input [-]");
  command
      .Add("--threshold", options.threshold, "Print only boxes with a score above this; 0 for COCO's evaluation [0.5]")
      .Check(NumberFrom(0, 1))
      .Type("P");
  command
      .Add("--out", options.out,
           "Draw the boxes on the image to this file (.png, .svg or .pdf), or on each image as PNG into this folder")
      .Check(NotEmpty())
      .Type("FILE|DIR");
  command.Add("--json", options.json, "Print one JSON object per image");
  Option& coco = command.Add("--coco", options.coco, "Write the boxes to this file, too, in COCO's results format")
                     .Check(NotEmpty())
                     .Type("FILE");
  Option& annotations =
      command
          .Add("--annotations", options.annotations, "COCO's annotations, whose ids of images and classes --coco uses")
          .Check(NotEmpty())
          .Type("FILE");
  coco.Needs(annotations);
  annotations.Needs(coco);
  AddMostPixels(command);
  AddSkipErrors(command, options, ReadBy::image);
  AddComputeOption(command, options.compute);
  command.footer =
      "\nEach line of the output is a box: PATH, LABEL, SCORE, LEFT, TOP, RIGHT and BOTTOM, separated by tabs. "
      "Boxes of an image are sorted by descending score. Coordinates are pixels of the original image from its "
      "upper left corner. The boxes do not depend on other images of a batch.\n\n"
      "Examples:\n"
      "  headlight detect detr-resnet-50 street.jpg\n"
      "  headlight detect detr-resnet-50 street.jpg --threshold 0.8 --out boxes.png\n"
      "  headlight detect detr-resnet-50 photos/ --json --out drawn/ > boxes.jsonl\n"
      "  headlight detect detr-resnet-50 val2017/ --threshold 0 --coco results.json --annotations val2017.json";
}

}  // namespace headlight::detect
