// headlight draw: pictures from texts by a DALL-E.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/picture_sheet.h"
#include "headlight/cli/progress.h"
#include "headlight/cli/translation_options.h"
#include "headlight/tasks/drawer.h"
#include "headlight/tasks/dual_embedder.h"

namespace headlight {
namespace {

struct Options : SheetOptions {
  std::string folder, from, ranker;
  std::vector<std::string> texts;
  std::optional<std::int64_t> rows, best;
  std::int64_t count = 1;
  bool json = false;
  std::optional<Compute> compute;
  DrawOptions draw;
};

// A CLIP that reads all texts: nothing is drawn that could not be ranked.
DualEmbedder LoadRanker(const Options& options) {
  DualEmbedder ranker = Loaded([&] { return DualEmbedder::Load(options.ranker); });
  Check(ranker.reads_texts() && ranker.reads_pictures(),
        "--rank {}: a model with towers for texts and for pictures is needed", options.ranker);
  ranker.EmbedTexts(options.texts,
                    {.name_of = [](std::size_t text) { return fmt::format("--rank: text {}", text + 1); }});
  return ranker;
}

// A drawing as it is shown: of which text, which of its drawings, and its score where they are ranked.
struct Shown {
  std::size_t text = 0, drawing = 0;
  std::optional<float> score = {};
};

// The drawings of a text follow one another: as they were drawn, or the best of them, best first.
std::vector<Shown> Order(const Options& options, const std::optional<DualEmbedder>& ranker,
                         std::span<const Drawing> drawings) {
  const auto count = static_cast<std::size_t>(options.count);
  std::vector<Shown> order;
  for (std::size_t text = 0; text < options.texts.size(); ++text) {
    if (!ranker) {
      for (std::size_t i = 0; i < count; ++i) order.push_back({text, i});
      continue;
    }
    std::vector<RankedDrawing> ranked =
        RankDrawings(*ranker, options.texts[text], drawings.subspan(text * count, count));
    ranked.resize(static_cast<std::size_t>(options.best.value_or(options.count)));
    for (const RankedDrawing& one : ranked) order.push_back({text, one.drawing, one.score});
  }
  return order;
}

void Run(const Options& options) {
  Check(!options.out.empty() || options.json, "--out FILE.png is required unless --json prints the codes");
  if (!options.out.empty()) {
    std::vector<std::string> inputs = {options.folder};
    if (!options.from.empty()) inputs.push_back(options.from);
    if (!options.ranker.empty()) inputs.push_back(options.ranker);
    CheckSheet(options, std::move(inputs));
  }
  Check(options.best.value_or(1) <= options.count, "--best {}: {} drawn of each text (--count)",
        options.best.value_or(0), options.count == 1 ? "1 picture is" : fmt::format("{} pictures are", options.count));
  const Drawer drawer = Loaded([&] { return Drawer::Load(options.folder, {.compute = options.compute}); });
  Check(!options.rows || *options.rows < drawer.rows(),
        "--rows {}: a picture has {} rows of codes, of which at least one is drawn", options.rows.value_or(0),
        drawer.rows());
  std::optional<PictureSheet> sheet;
  if (!options.out.empty())
    sheet.emplace(options, std::ssize(options.texts), options.best.value_or(options.count),
                  PictureSize{drawer.side(), drawer.side()});
  std::optional<Picture> begun;
  if (!options.from.empty()) begun = ReadOnePicture(Input(options.from));
  std::optional<DualEmbedder> ranker;
  if (!options.ranker.empty()) ranker = LoadRanker(options);

  Progress progress("codes drawn");
  DrawOptions draw = options.draw;
  draw.progress = [&](std::int64_t done, std::int64_t total) { progress.Show(done, total); };
  const std::vector<Drawing> drawings = begun
                                            ? drawer.Complete(options.texts, *begun, options.rows, options.count, draw)
                                            : drawer.Draw(options.texts, options.count, draw);
  std::vector<Picture> pictures;
  for (const Shown& shown : Order(options, ranker, drawings)) {
    const Drawing& drawing = drawings[shown.text * static_cast<std::size_t>(options.count) + shown.drawing];
    if (sheet) pictures.push_back(drawing.picture);
    if (!options.json) continue;
    Json::Object row = {{"text", options.texts[shown.text]},
                        {"drawing", static_cast<std::int64_t>(shown.drawing) + 1},
                        {"codes", Json::Array(drawing.codes.begin(), drawing.codes.end())}};
    if (shown.score) row.push_back({"score", *shown.score});
    WriteResult(Json(std::move(row)).Line() + "\n");
  }
  if (sheet) sheet->Write(pictures);
}

}  // namespace

void AddDraw(CLI::App& program) {
  const auto [command, options] = NewCommand(program, "draw", "Draw pictures from texts with a DALL-E", Run);
  AddFolder(command, options.folder, "Folder of a DALL-E, with its discrete VAE in the folder vae");
  command.add_option("TEXT", options.texts, "Text to draw; several are drawn one after another")
      ->required()
      ->check(NotEmpty());
  CLI::Option* out =
      AddFile(command, "--out", options.out, "PNG file to write: the picture, or a sheet of all", "FILE");
  CLI::Option* from = AddFile(command, "--from", options.from,
                              "Complete this picture, of which the upper half stays: JPEG, PNG or WebP, or of an IDX "
                              "file one by its number, as in t10k-images-idx3-ubyte#7; - is standard input");
  AddNumber(command, "--rows", options.rows, AtLeast(1), "Rows of codes to keep of it [half of the picture's]")
      ->needs(from);
  AddNumber(command, "--count", options.count, Between(1, 10'000), "Pictures to draw of each text")
      ->capture_default_str();
  CLI::Option* rank = command
                          .add_option("--rank", options.ranker,
                                      "Order the pictures of each text by how well this CLIP or SigLIP finds that they "
                                      "fit it, the best first")
                          ->type_name("DIR")
                          ->check(Folder());
  AddNumber(command, "--best", options.best, AtLeast(1), "Of --count pictures of each text keep the N best [all]")
      ->needs(rank);
  AddNumber(command, "--columns", options.columns, Between(1, 10'000),
            "Columns of the sheet [as many as rows; of several texts those of one]")
      ->needs(out);
  AddNumber(command, "--temperature", options.draw.temperature, NumberAbove(0),
            "Divide the logits by X before sampling")
      ->capture_default_str();
  AddNumber(command, "--top-k", options.draw.top_k, AtLeast(0), "Sample from the N most probable codes; 0: from all")
      ->capture_default_str();
  AddNumber(command, "--top-p", options.draw.top_p, NumberAbove(0, 1),
            "Sample from the most probable codes whose probabilities sum to X")
      ->capture_default_str();
  AddNumber(command, "--seed", options.draw.seed, Seed(), "Random seed of the sampling")->capture_default_str();
  command.add_flag("--json", options.json,
                   "Print one JSON object per picture: text, drawing (from 1), codes, with --rank score");
  AddComputeOption(command, options.compute);
  command.footer(
      "\nThe same seed draws the same pictures; a picture does not depend on the others of the call. Texts are those "
      "that\n"
      "the model was trained on: `headlight train text-to-picture` makes one.\n\n"
      "Examples:\n"
      "  headlight draw shapes 'a red circle left of a blue square' --out new.png\n"
      "  headlight draw shapes 'a red circle' 'a blue square' --count 8 --temperature 0.9 --seed 7 --out sheet.png\n"
      "  headlight draw shapes 'a red circle' --count 8 --rank clip --best 1 --out best.png\n"
      "  headlight draw shapes 'a red circle' --from half.png --out whole.png");
}

}  // namespace headlight
