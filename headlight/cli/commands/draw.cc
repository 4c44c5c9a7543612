// headlight draw: images from texts by a DALL-E or DALL-E mini.
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
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/text_reader.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/pipelines/image_text_embedder.h"
#include "headlight/pipelines/text_to_image.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::draw {
namespace {

constexpr std::size_t kAtOnce = 256;  // drawings in memory

struct Options : SheetOptions {
  std::string folder, from, ranker, texts_file;
  TextSource source;
  std::vector<std::string> texts;
  std::optional<std::int64_t> rows, best;
  std::int64_t count = 1;
  bool json = false;
  std::optional<Compute> compute;
  TextToImageOptions draw;

  // Drawings of a text that are written.
  std::int64_t kept() const { return best.value_or(count); }
  // A sheet of all drawings, rather than a folder with a file for each.
  bool sheet() const { return std::filesystem::path(out).has_extension(); }
};

std::vector<std::string> TextsOf(const Options& options) {
  std::vector<std::string> texts = options.texts;
  if (options.texts_file.empty()) return texts;
  TextReader reader(Input(options.texts_file), options.source);
  while (std::optional<SourceText> text = reader.Next()) texts.push_back(std::move(text->text));
  Check(texts.size() > options.texts.size(), "--texts {}: has no lines", options.texts_file);
  return texts;
}

// "text 2", or "captions.txt: line 1", for errors.
std::string NameOf(const Options& options, std::size_t text) {
  const std::size_t given = options.texts.size();
  return text < given ? fmt::format("text {}", text + 1)
                      : fmt::format("{}: line {}", options.texts_file, text - given + 1);
}

// A CLIP that reads all texts: nothing is drawn that could not be ranked.
ImageTextEmbedder LoadRanker(const Options& options, const std::vector<std::string>& texts) {
  ImageTextEmbedder ranker = Loaded([&] { return ImageTextEmbedder::Load(options.ranker); });
  Check(ranker.reads_texts() && ranker.reads_images(),
        "--rank {}: a model with towers for texts and for images is needed", options.ranker);
  ranker.EmbedTexts(texts, {.name_of = [&](std::size_t text) { return "--rank: " + NameOf(options, text); }});
  return ranker;
}

// The drawings of a text to keep: as they were drawn, or the best of them, the best first.
std::vector<RankedImage> Kept(const Options& options, const std::optional<ImageTextEmbedder>& ranker,
                              const std::string& text, std::span<const GeneratedImage> drawings) {
  if (ranker) {
    std::vector<RankedImage> ranked = RankImages(*ranker, text, drawings);
    ranked.resize(static_cast<std::size_t>(options.kept()));
    return ranked;
  }
  std::vector<RankedImage> all(drawings.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i].image = i;
  return all;
}

// In the folder --out, by the text's number, and where there are several of a text by its place among them.
std::string PathOf(const Options& options, std::size_t text, std::size_t place) {
  const std::string of_text = fmt::format("{}/{}", options.out, text + 1);
  return of_text + (options.kept() > 1 ? fmt::format("-{}.png", place + 1) : ".png");
}

void CheckOutput(const Options& options, std::size_t texts) {
  Check(!options.out.empty() || options.json, "--out is required unless --json prints the codes");
  if (options.out.empty()) return;
  std::vector<std::string> inputs = {options.folder, options.from, options.ranker, options.texts_file};
  std::erase(inputs, "");
  if (options.sheet()) return CheckSheet(options, std::move(inputs));
  Check(!options.columns, "--columns is for a sheet, and --out {} is a folder", options.out);
  std::vector<OutputFile> outputs = {{"--out", options.out}};
  for (std::size_t text = 0; text < texts; ++text)
    for (std::int64_t place = 0; place < options.kept(); ++place)
      outputs.push_back({"--out", PathOf(options, text, static_cast<std::size_t>(place))});
  CheckOutputs(outputs, std::move(inputs));
}

void Run(const Options& options) {
  Check(!options.texts.empty() || !options.texts_file.empty(), "TEXT or --texts FILE is required");
  Check(options.kept() <= options.count, "--best {}: {} drawn of each text (--count)", options.kept(),
        options.count == 1 ? "1 image is" : fmt::format("{} images are", options.count));
  const std::vector<std::string> texts = TextsOf(options);
  CheckOutput(options, texts.size());
  const TextToImage drawer = Loaded([&] { return TextToImage::Load(options.folder, {.compute = options.compute}); });
  Check(!options.rows || *options.rows < drawer.rows(),
        "--rows {}: an image has {} rows of codes, of which at least one is drawn", options.rows.value_or(0),
        drawer.rows());
  for (std::size_t i = 0; i < texts.size(); ++i) drawer.CheckText(texts[i], NameOf(options, i));
  std::optional<ImageSheet> sheet;
  const bool folder = !options.out.empty() && !options.sheet();
  if (!options.out.empty() && !folder)
    sheet.emplace(options, std::ssize(texts), options.kept(), ImageSize{drawer.side(), drawer.side()});
  std::optional<Image> begun;
  if (!options.from.empty()) begun = ReadOneImage(Input(options.from));
  std::optional<ImageTextEmbedder> ranker;
  if (!options.ranker.empty()) ranker = LoadRanker(options, texts);
  if (folder) {
    std::filesystem::create_directories(options.out);
    CheckWritable(PathOf(options, 0, 0));
  }

  // Texts are drawn some at a time, each group's images written before the next.
  const auto count = static_cast<std::size_t>(options.count), at_once = std::max<std::size_t>(1, kAtOnce / count);
  Progress progress("images drawn");
  std::vector<Image> on_sheet;
  for (std::size_t first = 0; first < texts.size(); first += at_once) {
    const auto some = std::span(texts).subspan(first, std::min(at_once, texts.size() - first));
    TextToImageOptions draw = options.draw;
    draw.count = options.count;
    draw.first_stream = first * count;
    draw.progress = [&](std::int64_t done, std::int64_t all) {
      progress.Show(options.count * (static_cast<std::int64_t>(first) + done * std::ssize(some) / all),
                    options.count * std::ssize(texts));
    };
    const std::vector<std::vector<GeneratedImage>> drawings =
        begun ? drawer.Complete(some, *begun, options.rows, draw) : drawer.Generate(some, draw);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::vector<RankedImage> kept = Kept(options, ranker, some[i], drawings[i]);
      for (std::size_t place = 0; place < kept.size(); ++place) {
        const GeneratedImage& drawing = drawings[i][kept[place].image];
        const std::string path = folder ? PathOf(options, first + i, place) : "";
        if (folder) WritePng(path, drawing.image);
        if (sheet) on_sheet.push_back(drawing.image);
        if (!options.json) continue;
        Json::Object row = {{"text", some[i]},
                            {"drawing", static_cast<std::int64_t>(kept[place].image) + 1},
                            {"codes", Json::Array(drawing.codes.begin(), drawing.codes.end())}};
        if (folder) row.push_back({"image", path});
        if (ranker) row.push_back({"score", kept[place].score});
        WriteResult(Json(std::move(row)).Line() + "\n");
      }
    }
    FlushResults();
  }
  if (sheet) sheet->Write(on_sheet);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "draw", "Draw images from texts with a DALL-E", Run);
  AddFolder(command, options.folder,
            "Folder of a DALL-E or DALL-E mini, with its discrete VAE or VQGAN in the folder vae");
  command.Add("TEXT", options.texts, "Text to draw; several are drawn one after another").Check(NotEmpty());
  command.AddFile("--texts", options.texts_file,
                  "Draw each text of this file, too: a line or a record each (see --format); - is standard input",
                  "FILE");
  Describe(command, options.source);
  Option& out = command.AddFile("--out", options.out,
                                "PNG file to write: the image, or a sheet of all; or a folder, in which the text's "
                                "number names a file for each drawing, as in 7.png, or 7-1.png and 7-2.png",
                                "FILE|DIR");
  Option& from = command.AddFile(
      "--from", options.from,
      "Complete this image, of which the upper half stays: JPEG, PNG, WebP, BMP, GIF or TIFF, or of an IDX "
      "file one by its number, as in t10k-images-idx3-ubyte#7; - is standard input");
  command.Add("--rows", options.rows, AtLeast(1), "Rows of codes to keep of it [half of the image's]").Needs(from);
  command.Add("--count", options.count, Between(1, 10'000), "Images to draw of each text").ShowDefault();
  Option& rank = command
                     .Add("--rank", options.ranker,
                          "Order the images of each text by how well this CLIP or SigLIP finds that they "
                          "fit it, the best first")
                     .Type("DIR")
                     .Model();
  command.Add("--best", options.best, AtLeast(1), "Of --count images of each text keep the N best [all]").Needs(rank);
  command
      .Add("--columns", options.columns, Between(1, 10'000),
           "Columns of the sheet [as many as rows; of several texts those of one]")
      .Needs(out);
  command.Add("--temperature", options.draw.temperature, NumberAbove(0), "Divide the logits by X before sampling")
      .ShowDefault();
  command
      .Add("--guidance", options.draw.guidance, NumberFrom(0, 100),
           "Follow the text X times as far as the model learned, which must have been trained with --drop-text; 16 is "
           "usual for a DALL-E mini; costs twice the time")
      .ShowDefault();
  command.Add("--top-k", options.draw.top_k, AtLeast(0), "Sample from the N most probable codes; 0: from all")
      .ShowDefault();
  command
      .Add("--top-p", options.draw.top_p, NumberAbove(0, 1),
           "Sample from the most probable codes whose probabilities sum to X")
      .ShowDefault();
  command.Add("--seed", options.draw.seed, Seed(), "Random seed of the sampling").ShowDefault();
  command.Add("--json", options.json,
              "Print one JSON object per image: text, drawing (from 1), codes, with a folder image (its "
              "path), with --rank score");
  AddComputeOption(command, options.compute);
  command.footer =
      "\nThe same seed draws the same images; an image does not depend on the others of the call. Texts are those "
      "that\n"
      "the model was trained on: `headlight train text-to-image` makes one.\n\n"
      "Examples:\n"
      "  headlight draw shapes 'a red circle left of a blue square' --out new.png\n"
      "  headlight draw shapes 'a red circle' 'a blue square' --count 8 --temperature 0.9 --seed 7 --out sheet.png\n"
      "  headlight draw shapes 'a red circle' --count 8 --rank clip --best 1 --out best.png\n"
      "  headlight draw shapes 'a red circle' --guidance 2 --temperature 0.7 --out red.png\n"
      "  headlight draw shapes --texts captions.txt --count 8 --rank clip --best 1 --out drawn/\n"
      "  headlight draw shapes 'a red circle' --from half.png --out whole.png";
}

}  // namespace headlight::draw
