// headlight draw: generates images from texts with a DALL-E or DALL-E mini model.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/image_sheet.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/text_reader.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/pipelines/image_text_embedder.h"
#include "headlight/pipelines/text_to_image.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::draw {
namespace {

constexpr std::size_t kAtOnce = 256;  // maximum number of images in memory

struct Options : SheetOptions {
  std::string folder, image, reranker, file;
  TextSource source;
  std::vector<std::string> texts;
  std::optional<std::int64_t> keep_rows, best_of;
  std::int64_t n_best = 1;
  bool json = false;
  std::optional<Compute> compute;
  TextToImageOptions draw;

  // Returns the number of images that are generated for each text. The best `n_best` images are written.
  std::int64_t drawn() const { return best_of.value_or(n_best); }
  // Returns true if --out is one file that contains all images. Otherwise, --out is a folder with one file per image.
  bool sheet() const { return std::filesystem::path(out).has_extension(); }
};

std::vector<std::string> TextsOf(const Options& options) {
  std::vector<std::string> texts = options.texts;
  if (options.file.empty()) {
    RefuseTextOptions(options.source, "--file names none");
    return texts;
  }
  for (std::string& text : AllTexts(Input(options.file), options.source)) texts.push_back(std::move(text));
  Check(texts.size() > options.texts.size(), "--file {}: has no lines", options.file);
  return texts;
}

// Returns the name of a text for error messages, such as "text 2" or "captions.txt: line 1".
std::string NameOf(const Options& options, std::size_t text) {
  const std::size_t given = options.texts.size();
  return text < given ? fmt::format("text {}", text + 1) : fmt::format("{}: line {}", options.file, text - given + 1);
}

// Loads the CLIP or SigLIP model. Checks that it can encode all texts before any image is generated.
ImageTextEmbedder LoadRanker(const Options& options, const std::vector<std::string>& texts) {
  ImageTextEmbedder ranker = Loaded([&] { return ImageTextEmbedder::Load(options.reranker); });
  Check(ranker.reads_texts() && ranker.reads_images(),
        "--reranker {}: a CLIP or SigLIP with towers for texts and images is needed", options.reranker);
  ranker.EmbedTexts(texts, {.name_of = [&](std::size_t text) { return "--reranker: " + NameOf(options, text); }});
  return ranker;
}

// Returns the images of a text to keep. With a reranker, these are the best images in descending order. Otherwise, all
// images are kept.
std::vector<RankedImage> Kept(const Options& options, const std::optional<ImageTextEmbedder>& ranker,
                              const std::string& text, std::span<const GeneratedImage> drawings) {
  if (ranker) {
    std::vector<RankedImage> ranked = RankImages(*ranker, text, drawings);
    ranked.resize(static_cast<std::size_t>(options.n_best));
    return ranked;
  }
  std::vector<RankedImage> all(drawings.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i].index = i;
  return all;
}

// Returns the path of an image in the folder --out. The file name is the number of the text, followed by the number of
// the image if a text has several images.
std::string PathOf(const Options& options, std::size_t text, std::size_t position) {
  const std::string of_text = fmt::format("{}/{}", options.out, text + 1);
  return of_text + (options.n_best > 1 ? fmt::format("-{}.png", position + 1) : ".png");
}

void CheckOutput(const Options& options, std::size_t texts) {
  Check(!options.out.empty() || options.json, "--out is required unless --json prints the codes");
  if (options.out.empty()) return;
  std::vector<std::string> inputs = {options.folder, options.image, options.reranker, options.file};
  std::erase(inputs, "");
  if (options.sheet()) return CheckSheet(options, std::move(inputs));
  Check(!options.columns, "--columns is for a sheet, and --out {} is a folder", options.out);
  std::vector<OutputFile> outputs = {{"--out", options.out}};
  for (std::size_t text = 0; text < texts; ++text)
    for (std::int64_t position = 0; position < options.n_best; ++position)
      outputs.push_back({"--out", PathOf(options, text, static_cast<std::size_t>(position))});
  CheckOutputs(outputs, std::move(inputs));
}

void Run(const Options& options) {
  Check(!options.texts.empty() || !options.file.empty(), "TEXT or --file FILE is required");
  Check(options.n_best <= options.drawn(), "--n-best {}: must be at most --best-of, {}", options.n_best,
        options.drawn());
  const std::vector<std::string> texts = TextsOf(options);
  CheckOutput(options, texts.size());
  const TextToImage drawer = Loaded([&] { return TextToImage::Load(options.folder, {.compute = options.compute}); });
  Check(!options.keep_rows || *options.keep_rows < drawer.rows(),
        "--keep-rows {}: an image has {} rows of codes, of which at least one must be generated",
        options.keep_rows.value_or(0), drawer.rows());
  for (std::size_t i = 0; i < texts.size(); ++i) drawer.CheckText(texts[i], NameOf(options, i));
  std::optional<ImageSheet> sheet;
  const bool folder = !options.out.empty() && !options.sheet();
  if (!options.out.empty() && !folder)
    sheet.emplace(options, std::ssize(texts), options.n_best, ImageSize{drawer.side(), drawer.side()});
  std::optional<Image> begun;
  if (!options.image.empty()) begun = ReadOneImage(Input(options.image));
  std::optional<ImageTextEmbedder> ranker;
  if (!options.reranker.empty()) ranker = LoadRanker(options, texts);
  if (folder) {
    std::filesystem::create_directories(options.out);
    CheckWritable(PathOf(options, 0, 0));
  }

  // The texts are processed in groups. The images of a group are written before the next group begins.
  const auto count = static_cast<std::size_t>(options.drawn()), at_once = std::max<std::size_t>(1, kAtOnce / count);
  Progress progress("images generated");
  std::vector<Image> on_sheet;
  for (std::size_t first = 0; first < texts.size(); first += at_once) {
    const auto some = std::span(texts).subspan(first, std::min(at_once, texts.size() - first));
    TextToImageOptions draw = options.draw;
    draw.count = options.drawn();
    draw.first_stream = first * count;
    draw.progress = [&](std::int64_t done, std::int64_t all) {
      progress.Show(options.drawn() * (static_cast<std::int64_t>(first) + done * std::ssize(some) / all),
                    options.drawn() * std::ssize(texts));
    };
    const std::vector<std::vector<GeneratedImage>> drawings =
        begun ? drawer.Complete(some, *begun, options.keep_rows, draw) : drawer.Generate(some, draw);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::vector<RankedImage> kept = Kept(options, ranker, some[i], drawings[i]);
      for (std::size_t position = 0; position < kept.size(); ++position) {
        const GeneratedImage& drawing = drawings[i][kept[position].index];
        const std::string path = folder ? PathOf(options, first + i, position) : "";
        if (folder) WritePng(path, drawing.image);
        if (sheet) on_sheet.push_back(drawing.image);
        if (!options.json) continue;
        Json::Object row = {{"text", some[i]},
                            {"index", static_cast<std::int64_t>(kept[position].index) + 1},
                            {"codes", Json::Array(drawing.codes.begin(), drawing.codes.end())}};
        if (folder) row.push_back({"image", path});
        if (ranker) row.push_back({"score", kept[position].score});
        WriteResult(Json(std::move(row)).Line() + "\n");
      }
    }
    FlushResults();
  }
  if (sheet) sheet->Write(on_sheet);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "draw", "Generate images from texts with a DALL-E", Run);
  AddFolder(command, options.folder,
            "Folder of a DALL-E or DALL-E mini, with its discrete VAE or VQGAN in its folder vae");
  command.Add("TEXT", options.texts, "Description of the image; may be repeated").Check(NotEmpty());
  command.AddFile("--file", options.file,
                  "File of further texts, one per line or record (see --format); - is standard input", "FILE");
  Describe(command, options.source);
  Option& out = command.AddFile("--out", options.out,
                                "PNG file for the image or a sheet of all images; or a folder, in which the text's "
                                "number names each file, as in 7.png, or 7-1.png and 7-2.png",
                                "FILE|DIR");
  Option& image = command.AddFile(
      "--image", options.image,
      "Complete this image below its upper half: a file, or an image of an IDX file by its number, as in "
      "t10k-images-idx3-ubyte#7; - is standard input");
  command.Add("--keep-rows", options.keep_rows, AtLeast(1), "Rows of codes of the image to keep [half]").Needs(image);
  command.Add("--n-best", options.n_best, Between(1, 10'000), "Write N images of each text").ShowDefault();
  Option& reranker = command
                         .Add("--reranker", options.reranker,
                              "Folder of a CLIP or SigLIP that sorts the images of each text by similarity to it, the "
                              "best first")
                         .Type("DIR")
                         .Check(ExistingFolder());
  command
      .Add("--best-of", options.best_of, Between(1, 10'000),
           "Generate N images of each text, of which the --n-best most similar ones are kept [--n-best]")
      .Needs(reranker);
  command
      .Add("--columns", options.columns, Between(1, 10'000),
           "Columns of the sheet [as many as rows; with several texts --n-best]")
      .Needs(out);
  command.Add("--temperature", options.draw.temperature, NumberAbove(0), "Divide the logits by X before sampling")
      .ShowDefault();
  command
      .Add("--guidance", options.draw.guidance, NumberFrom(0, 100),
           "Scale of classifier-free guidance, for a model trained with --drop-text; 16 is usual for a DALL-E mini, "
           "and 1 "
           "is none")
      .ShowDefault();
  command.Add("--top-k", options.draw.top_k, AtLeast(0), "Sample from the N most probable codes; 0: from all")
      .ShowDefault();
  command
      .Add("--top-p", options.draw.top_p, NumberAbove(0, 1),
           "Sample from the most probable codes whose probabilities sum to X")
      .ShowDefault();
  command.Add("--seed", options.draw.seed, Seed(), "Random seed of the sampling").ShowDefault();
  command.Add("--json", options.json,
              "Print one JSON object per image: text, index (of the image among those of the text, from 1), "
              "codes; with a folder image (its path); with --reranker score");
  AddComputeOption(command, options.compute);
  command.footer =
      "\nThe same seed gives the same images, and an image does not depend on the others. Texts must resemble "
      "those that the model was trained on. `headlight train text-to-image` trains a model.\n\n"
      "Examples:\n"
      "  headlight draw shapes 'a red circle left of a blue square' --out new.png\n"
      "  headlight draw shapes 'a red circle' 'a blue square' --n-best 8 --temperature 0.9 --seed 7 --out sheet.png\n"
      "  headlight draw shapes 'a red circle' --reranker clip --best-of 8 --out best.png\n"
      "  headlight draw shapes 'a red circle' --guidance 2 --temperature 0.7 --out red.png\n"
      "  headlight draw shapes --file captions.txt --reranker clip --best-of 8 --out drawn/\n"
      "  headlight draw shapes 'a red circle' --image half.png --out whole.png";
}

}  // namespace headlight::draw
