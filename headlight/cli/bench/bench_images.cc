// headlight bench images: measures how fast images are read and preprocessed for a model.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/processor.h"

namespace headlight::bench_images {
namespace {

struct Options {
  std::string folder;
  std::vector<std::string> files;
  std::int32_t repetitions = 10;
  bool json = false;
};

void Run(const Options& options) {
  const ImageProcessor processor = LoadImageProcessor(options.folder);
  Check(std::ranges::count(options.files, "-") == 0, "standard input (-) cannot be read repeatedly: name files");
  const std::vector<ImageSource> sources = ListImages(options.files);
  Progress progress("repetitions");
  std::vector<double> rates;  // images per second of each repetition after the warm-up
  for (std::int32_t repetition = 0; repetition <= options.repetitions; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    ParallelFor(std::ssize(sources), [&](std::int64_t i) {
      processor.Values(processor.Fit(ReadImage(sources[static_cast<std::size_t>(i)], MostPixels())));
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (repetition > 0) rates.push_back(static_cast<double>(sources.size()) / seconds.count());
    progress.Show(repetition, options.repetitions);
  }
  std::ranges::sort(rates);
  const double median = rates[rates.size() / 2];
  if (options.json)
    return WriteResult(Json(Json::Object{{"benchmark", "images"},
                                         {"model", options.folder},
                                         {"images", sources.size()},
                                         {"threads", Threads()},
                                         {"repetitions", options.repetitions},
                                         {"images_per_second", median}})
                           .Line() +
                       "\n");
  WriteResult(fmt::format("{:.1f} images per second (median of {} times {} images), {} threads\n", median,
                          options.repetitions, sources.size(), Threads()));
}

}  // namespace

void Add(Command& bench) {
  const auto [command, options] =
      NewCommand(bench, "images", "Measure how fast images are read and prepared for a model", Run);
  AddFolder(command, options.folder, "Folder of the model, of which only preprocessor_config.json is read");
  command
      .Add("FILE", options.files,
           "JPEG, PNG, WebP, BMP, GIF, TIFF or IDX files (MNIST's format), folders of images, patterns such as '*.jpg'")
      .Required();
  command.Add("--repetitions", options.repetitions, AtLeast(1), "Times that all images are read, after one to warm up")
      .ShowDefault();
  AddMostPixels(command);
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nEach image is decoded, resized, cropped and normalized.\n\n"
      "Example:\n"
      "  headlight bench images vit-base-patch16-224 photos/ --threads 1";
}

}  // namespace headlight::bench_images
