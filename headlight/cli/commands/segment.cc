// headlight segment: segments images into objects and regions.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/inspect/drawing/box_drawing.h"
#include "headlight/kinds/detection_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/image_segmenter.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/text/printable.h"

namespace headlight::segment {
namespace {

struct Options : LineOptions {
  std::string folder;
  std::vector<std::string> inputs;
  double threshold = 0.5;
  std::string out, overlay;
  std::optional<Compute> compute;
};

std::string RowsOf(const std::string& name, const Segmentation& found, bool json) {
  Json::Array segments;
  std::string rows;
  for (const auto& [id, label_id, score, area, label] : found.segments) {
    segments.push_back(
        Json::Object{{"id", id}, {"label", label}, {"score", static_cast<float>(score)}, {"area", area}});
    rows += fmt::format("{}\t{}\t{}\t{:.4f}\t{}\n", InRow(name), id, InRow(label), score, area);
  }
  if (!json) return rows;
  return Json(Json::Object{{"image", name}, {"segments", std::move(segments)}}).Line() + "\n";
}

void Run(const Options& options) {
  CheckKind<DetectionModel>(options.folder);  // checked before the images are listed
  const std::vector<ImageSource> sources = ListInputImages(options.inputs);
  const ImageOutputs masks = OutputsOf("--out", options.out, sources, {".png"});
  const ImageOutputs overlays = OutputsOf("--overlay", options.overlay, sources, {".png", ".svg", ".pdf"});
  PrepareOutputs({masks, overlays}, {}, sources, {options.folder});
  const ImageSegmenter segmenter =
      Loaded([&] { return ImageSegmenter::Load(options.folder, {.compute = options.compute}); });

  // Keeps a single image for drawing, because standard input can be read only once. Other images are read again.
  std::optional<Image> only;
  const auto fit = [&](const Image& image) {
    if (sources.size() == 1 && !overlays.paths.empty()) only = image;
    return segmenter.Fit(image);
  };
  const auto rows = [&](const FittedBatch& batch) {
    const auto first = static_cast<std::size_t>(batch.first);
    std::vector<std::string> printed;
    // Process images one by one, because the segments of a large image take as much memory as the image.
    for (std::size_t i = 0; i < batch.fitted.size(); ++i) {
      const Segmentation found = segmenter.SegmentFitted(
          batch.fitted.subspan(i, 1), batch.sizes.subspan(i, 1),
          {.threshold = options.threshold, .name_of = [&](std::size_t) { return batch.name_of(i); }})[0];
      if (!masks.paths.empty()) WritePng(masks.paths[first + i], ImageOfIds(found));
      if (!overlays.paths.empty())
        DrawSegments(only ? *only : ReadImage(batch.sources[i], MostPixels()), found, segmenter.labels(),
                     overlays.paths[first + i]);
      printed.push_back(RowsOf(batch.sources[i].name(), found, options.json));
    }
    return printed;
  };
  ForEachImageBatch(options, sources, "images segmented", fit, rows);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "segment", "Segment images into objects and regions", Run);
  command.Add("DIR", options.folder, "Folder of a DETR with masks").Required().Model();
  command.Add("FILE", options.inputs,
              "JPEG, PNG, WebP, BMP, GIF, TIFF or IDX files (MNIST's format), folders of images, patterns such as "
              "'*.jpg'; - is standard input [-]");
  command.Add("--threshold", options.threshold, "Print only segments with a score above this [0.5]")
      .Check(NumberFrom(0, 1))
      .Type("P");
  command
      .Add("--out", options.out,
           "Write the segments to this PNG file, or for each image into this folder: red + 256 green + 65536 "
           "blue of a pixel is the id of its segment, or 0")
      .Check(NotEmpty())
      .Type("FILE.png|DIR");
  command
      .Add("--overlay", options.overlay,
           "Draw the segments on the image to this file (.png, .svg or .pdf), or on each image as PNG into this folder")
      .Check(NotEmpty())
      .Type("FILE|DIR");
  command.Add("--json", options.json, "Print one JSON object per image");
  AddMostPixels(command);
  AddSkipErrors(command, options, ReadBy::image);
  AddComputeOption(command, options.compute);
  command.footer =
      "\nEach line of the output is a segment: PATH, ID, LABEL, SCORE and AREA in pixels, separated by tabs. A "
      "pixel belongs to the most probable segment there. A segment that keeps at most 80% of the pixels that it "
      "claims is dropped. --out has the format of COCO's panoptic annotations.\n\n"
      "Examples:\n"
      "  headlight segment detr-resnet-50-panoptic street.jpg --out masks.png --overlay segments.png\n"
      "  headlight segment detr-resnet-50-panoptic photos/ --json --out masks/ > segments.jsonl";
}

}  // namespace headlight::segment
