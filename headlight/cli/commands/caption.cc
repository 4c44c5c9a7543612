// headlight caption: generates captions of images.
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/cli/commands/sampling_options.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/pipelines/image_captioner.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/text/printable.h"

namespace headlight::caption {
namespace {

struct Options : LineOptions {
  std::string folder;
  std::vector<std::string> inputs;
  std::optional<Compute> compute;
  CaptionOptions caption;
};

void Run(const Options& options) {
  const std::vector<ImageSource> sources = ListInputImages(options.inputs);
  const ImageCaptioner captioner =
      Loaded([&] { return ImageCaptioner::Load(options.folder, {.compute = options.compute}); });
  captioner.Caption({}, options.caption);  // checks the options before any input is read
  CaptionOptions caption = options.caption;
  const auto rows = [&](const FittedBatch& batch) {
    caption.first_stream = static_cast<std::uint64_t>(batch.first);
    caption.name_of = batch.name_of;
    std::vector<std::string> printed;
    for (const std::vector<ImageCaption>& captions : captioner.CaptionFitted(batch.fitted, caption)) {
      const std::string name = batch.sources[printed.size()].name();
      std::string& own = printed.emplace_back();
      for (const ImageCaption& one : captions)
        own += (options.json
                    ? Json(Json::Object{
                               {"image", name}, {"text", one.text}, {"score", one.score}, {"complete", one.complete}})
                          .Line()
                    : InRow(name) + "\t" + OnOneLine(one.text)) +
               "\n";
    }
    return printed;
  };
  ForEachImageBatch(
      options, sources, "images described", [&](const Image& image) { return captioner.Fit(image); }, rows);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "caption", "Describe images in words", Run);
  CaptionOptions& caption = options.caption;
  AddFolder(command, options.folder, "Folder of a VisionEncoderDecoder, or of a BLIP that writes captions");
  command.Add("IMAGE", options.inputs,
              "JPEG, PNG, WebP, BMP, GIF, TIFF or IDX files (MNIST's format), folders of images, patterns such as "
              "'*.jpg'; - is standard input [-]");
  command.Add("--prompt", caption.prompt, "Begin every caption with this, such as 'an image of'")
      .Type("TEXT")
      .Check(NotEmpty());
  command.Add("--beam-size", caption.beam_size, Between(1, 1024), "Beams; 1: greedy or sampling [the model's, or 1]");
  command.Add("--length-penalty", caption.length_penalty, AnyNumber(),
              "With beams, score captions by log-probability / length^X [the model's, or 1]");
  command.Add("--n-best", caption.n_best, Between(1, 1024),
              "Write N captions of each image: the best beams, or samples [the model's, or 1]");
  command.Add(
      "--max-length", caption.max_length, AtLeast(1),
      "Maximum tokens of a caption, including the prompt and the end [the model's, or 20 more than the prompt has]");
  command.Add("--min-length", caption.min_length, AtLeast(0), "Minimum tokens of a caption [the model's, or 0]");
  AddSamplingOptions(command, caption);
  command.Add("--no-repeat-ngram-size", caption.no_repeat_ngram_size, AtLeast(0),
              "Do not repeat n-grams of this size; 0: no limit [the model's, or 0]");
  command.Add("--json", options.json,
              "Print one JSON object per caption: image, text, score, complete (false if --max-length cut it)");
  AddSkipErrors(command, options, ReadBy::image);
  AddShard(command, options.shard);
  AddComputeOption(command, options.compute);
  command.footer =
      "\nEach line of the output is IMAGE<tab>CAPTION, with the best caption of an image first. An image of an "
      "IDX file has #N after the path. Defaults are those of the model's generation_config.json. Captions do "
      "not depend on other images of a batch; sampled captions depend on the position of the image.\n\n"
      "Examples:\n"
      "  headlight caption vit-gpt2-image-captioning cat.jpg photos/ --beam-size 4\n"
      "  headlight caption blip-image-captioning-base cat.jpg --prompt 'an image of' --beam-size 5 --n-best 3 --json\n"
      "  headlight caption blip-image-captioning-base cat.jpg --temperature 0.8 --n-best 4 --seed 7";
}

}  // namespace headlight::caption
