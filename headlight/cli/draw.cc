// headlight draw: pictures from texts by a DALL-E.
#include <optional>
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

namespace headlight {
namespace {

struct Options : SheetOptions {
  std::string folder, from;
  std::vector<std::string> texts;
  std::optional<std::int64_t> rows;
  std::int64_t count = 1;
  bool json = false;
  std::optional<Compute> compute;
  DrawOptions draw;
};

void Run(const Options& options) {
  Check(!options.out.empty() || options.json, "--out FILE.png is required unless --json prints the codes");
  if (!options.out.empty()) {
    std::vector<std::string> inputs = {options.folder};
    if (!options.from.empty()) inputs.push_back(options.from);
    CheckSheet(options, std::move(inputs));
  }
  const Drawer drawer = Loaded([&] { return Drawer::Load(options.folder, {.compute = options.compute}); });
  Check(!options.rows || *options.rows < drawer.rows(),
        "--rows {}: a picture has {} rows of codes, of which at least one is drawn", options.rows.value_or(0),
        drawer.rows());
  std::optional<PictureSheet> sheet;
  if (!options.out.empty())
    sheet.emplace(options, std::ssize(options.texts), options.count, PictureSize{drawer.side(), drawer.side()});
  std::optional<Picture> begun;
  if (!options.from.empty()) begun = ReadOnePicture(Input(options.from));

  Progress progress("codes drawn");
  DrawOptions draw = options.draw;
  draw.progress = [&](std::int64_t done, std::int64_t total) { progress.Show(done, total); };
  const std::vector<Drawing> drawings = begun
                                            ? drawer.Complete(options.texts, *begun, options.rows, options.count, draw)
                                            : drawer.Draw(options.texts, options.count, draw);
  if (options.json)
    for (std::size_t i = 0; i < drawings.size(); ++i) {
      Json::Array codes(drawings[i].codes.begin(), drawings[i].codes.end());
      WriteResult(Json(Json::Object{{"text", options.texts[i / static_cast<std::size_t>(options.count)]},
                                    {"drawing", static_cast<std::int64_t>(i) % options.count + 1},
                                    {"codes", std::move(codes)}})
                      .Line() +
                  "\n");
    }
  if (!sheet) return;
  std::vector<Picture> pictures;
  for (const Drawing& drawing : drawings) pictures.push_back(drawing.picture);
  sheet->Write(pictures);
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
  AddNumber(command, "--columns", options.columns, Between(1, 10'000),
            "Columns of the sheet [as many as rows; of several texts --count]")
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
  command.add_flag("--json", options.json, "Print one JSON object per picture: text, drawing (from 1), codes");
  AddComputeOption(command, options.compute);
  command.footer(
      "\nThe same seed draws the same pictures; a picture does not depend on the others of the call. Texts are those "
      "that\n"
      "the model was trained on: `headlight train text-to-picture` makes one.\n\n"
      "Examples:\n"
      "  headlight draw shapes 'a red circle left of a blue square' --out new.png\n"
      "  headlight draw shapes 'a red circle' 'a blue square' --count 8 --temperature 0.9 --seed 7 --out sheet.png\n"
      "  headlight draw shapes 'a red circle' --from half.png --out whole.png");
}

}  // namespace headlight
