// headlight look: shows the attention of every head as a page or an image.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/commands/look_structure.h"
#include "headlight/cli/commands/model_argument.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/image_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/cli/train/training_moments.h"
#include "headlight/inspect/attention_page.h"
#include "headlight/inspect/drawing/attention_drawing.h"
#include "headlight/inspect/drawing/image_drawing.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/text/printable.h"

namespace headlight::look {
namespace {

bool IsPage(const std::string& path) { return path.ends_with(".html") || path.ends_with(".htm"); }

// Returns the attention of the model, of two models, or of all checkpoints that a training run has kept.
std::vector<AttentionRecord> RecordsOf(const LookOptions& options) {
  std::vector<AttentionRecord> records;
  if (options.checkpoints) {
    const TrainingMoments moments(options.folder);
    for (const TrainingMoment& moment : moments.all()) {
      records.push_back(FolderAttention(moment.folder, options));
      records.back().title = moment.name;
    }
    return records;
  }
  records.push_back(FolderAttention(options.folder, options));
  if (options.against) {
    records.push_back(FolderAttention(*options.against, options));
    if (records[0].title == records[1].title) {
      records[0].title = options.folder;
      records[1].title = *options.against;
    }
  }
  return records;
}

// Returns the title of a page: the beginning of the text that the model reads, followed by the name of the model. Pages
// of two models or of a training have only the names, and those of images only the model's.
std::string TitleOf(const LookOptions& options, const std::vector<AttentionRecord>& records) {
  constexpr std::size_t longest = 100;  // bytes of the text
  if (options.against) return fmt::format("{} and {}", records[0].title, records[1].title);
  if (options.checkpoints) return NameOfFolder(options.folder);
  const std::string text = OnOneLine(options.source.value_or(options.text.value_or("")));
  if (text.empty()) return records[0].title;
  std::size_t end = std::min(text.size(), longest);
  while (end < text.size() && (text[end] & 0xC0) == 0x80) --end;
  return fmt::format("{}{} ({})", text.substr(0, end), end < text.size() ? "\u2026" : "", records[0].title);
}

// Returns the index of the token whose attention over the image is shown first. `patch` is ROW:COLUMN, from 1:1. By
// default, this is the class token, or the last pixel if the model's tokens are pixels.
int FirstQuery(const LookOptions& options, const AttentionRecord& record) {
  if (!options.patch) return record.target_image ? static_cast<int>(record.target_tokens.size()) - 1 : 0;
  const std::string& patch = *options.patch;
  const ImageTokens& cells = record.target_image ? *record.target_image : record.source_image.value();
  int row = 0, column = 0, read = 0;
  Check(std::sscanf(patch.c_str(), "%5d:%5d%n", &row, &column, &read) == 2 &&
            static_cast<std::size_t>(read) == patch.size() && row >= 1 && row <= cells.rows && column >= 1 &&
            column <= cells.columns,
        "--patch must be ROW:COLUMN, from 1:1 to {}:{}, not \"{}\"", cells.rows, cells.columns, patch);
  const int token = cells.first + (row - 1) * cells.columns + column - 1;
  Check(token < static_cast<int>(std::max(record.source_tokens.size(), record.target_tokens.size())),
        "--patch {}: the model does not read the last pixel", patch);
  return token;
}

// Selects the attention maps to draw. By default, these are the maps of a detector's boxes or of a captioning model's
// words. With --patch, the maps of this patch are shown. The rollout of a text is shown only on request.
AttentionRecord ForDrawing(AttentionRecord record, const LookOptions& options) {
  if (record.source_image && !record.target_tokens.empty())
    std::erase_if(record.maps, [&](const AttentionMap& map) {
      return (map.kind == AttentionKind::encoder_self) != options.patch.has_value();
    });
  if (!record.source_image && !record.target_image && options.attention != "rollout")
    std::erase_if(record.maps, [](const AttentionMap& map) { return map.rollout; });
  return record;
}

void Run(const LookOptions& given) {
  LookOptions options = given;
  Check(!options.target || options.source || options.image_path, "--target needs --source or --image");
  bool drawing = false;
  for (const std::string& path : options.out) {
    const std::string ending = std::filesystem::path(path).extension();
    Check(IsPage(path) || ending == ".svg" || ending == ".png" || ending == ".pdf",
          "{}: the file's ending must be .html, .svg, .png or .pdf", path);
    drawing = drawing || !IsPage(path);
  }
  Check(!options.against || !drawing, "--against needs an --out that ends in .html: only a page shows two models");
  Check(!options.checkpoints || !drawing,
        "--checkpoints needs an --out that ends in .html: only a page shows a training");
  std::vector<OutputFile> files;
  for (const std::string& path : options.out) files.push_back({"--out", path});
  std::vector<std::string> inputs = {options.folder};
  for (const std::optional<std::string>& input : {options.image_path, options.against, options.detector, options.msa})
    if (input) inputs.push_back(*input);
  CheckOutputs(files, inputs);
  for (const std::string& path : options.out) CheckWritable(path);
  if (FamilyOf(OpenModelDescription(options.folder)).kind == FoldingModel::kKind) return LookAtStructure(options);
  for (const auto& [has_value, name] : {std::pair{options.msa.has_value(), "--msa"},
                                        {options.sequence.has_value(), "--sequence"},
                                        {options.residue.has_value(), "--residue"}})
    Check(!has_value, "{}: {} is for structure prediction models", options.folder, name);
  if (options.image_path) options.image = ReadOneImage(Input(*options.image_path));
  options.note = [](const std::string& text) { Note("{}", text); };
  const Progress progress("looking");
  const std::vector<AttentionRecord> records = RecordsOf(options);
  const AttentionRecord& record = records[0];
  const int query = FirstQuery(options, record);
  const std::size_t sources = record.source_tokens.size(), targets = record.target_tokens.size();
  const bool both = sources > 0 && targets > 0;
  const std::string tokens = both ? fmt::format("{} source and {} target tokens", sources, targets)
                                  : fmt::format("{} tokens", sources + targets);
  const std::string title = TitleOf(options, records);
  const bool rollouts = options.attention == "rollout";
  for (const std::string& path : options.out) {
    auto shown = std::ranges::count(record.maps, rollouts, &AttentionMap::rollout);
    if (IsPage(path)) {
      WritePage(path,
                AttentionPage(records,
                              {.title = title, .query = query, .mass = options.mass, .slider = options.checkpoints}));
    } else {
      const AttentionRecord drawn = ForDrawing(record, options);
      shown = std::ranges::count(drawn.maps, rollouts, &AttentionMap::rollout);
      if (std::ranges::any_of(drawn.maps, [&](const AttentionMap& map) {
            return drawn.key_image(map.kind) || drawn.query_image(map.kind);
          })) {
        DrawImageAttention(drawn, {.query = query, .mass = options.mass}, path);
      } else {
        DrawAttention(drawn, path);
      }
    }
    const char* const noun = record.maps[0].relevance ? "map" : "attention";
    Note("{} shows {} {}{} of {}", path, shown, noun, shown == 1 ? "" : "s", tokens);
  }
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "look", "Show the attention of every head as a page or image", Run);
  AddModel(command, options.folder, "Folder of the model, a GGUF file, or an .npz file of AlphaFold 2");
  Option& source = command.Add("--source", options.source, "Sentence for the encoder").Type("TEXT");
  command.Add("--target", options.target, "Sentence for the decoder, or caption of the image [the model's output]")
      .Type("TEXT");
  Option& text =
      command
          .Add("--text", options.text,
               "Text for an encoder, a language model or a text-to-image model; with --image for a CLIP: show "
               "which patches change their score")
          .Type("TEXT")
          .Excludes(source);
  command.Add("--second", options.second, "Second text of a pair, for an encoder").Type("TEXT").Needs(text);
  Option& image = command
                      .Add("--image", options.image_path,
                           "Image (JPEG, PNG, WebP, BMP, GIF, TIFF, or one of an IDX file by its number: "
                           "t10k-images-idx3-ubyte#7) for an encoder, a generator, a detector or a "
                           "model of captions; - is standard input")
                      .Type("FILE")
                      .Check(NotEmpty())
                      .Excludes(source);
  command
      .Add("--patch", options.patch,
           "Show the attention of this patch or pixel, counted from 1 [the class token; the last pixel; a detector's "
           "boxes]")
      .Type("ROW:COLUMN")
      .Check(NotEmpty())
      .Needs(image);
  command.Add("--mass", options.mass, "Show the patches that have this share of the weight of each head, such as 0.6")
      .Type("SHARE")
      .Check(NumberAbove(0, 1))
      .Needs(image);
  AddMostPixels(command).Needs(image);
  command
      .Add("--question", options.question,
           "Show the attention of the words of this question, for a model that answers or reads regions")
      .Type("TEXT")
      .Needs(image);
  command
      .Add("--detector", options.detector,
           "Folder of a detector that finds the regions of the image, for a ViLBERT, LXMERT or VisualBERT")
      .Model()
      .Type("DIR")
      .Needs(image);
  command.Add("--threshold", options.threshold, "Show objects that a detector finds with a score above this [0.5]")
      .Check(NumberFrom(0, 1))
      .Type("P")
      .Needs(image);
  Option& msa = command.AddFile("--msa", options.msa,
                                "Alignment of a protein for an AlphaFold, A3M, A2M, FASTA or Stockholm, plain or gzip");
  command.Add("--sequence", options.sequence, "Sequence of a protein, without an alignment")
      .Check(NotEmpty())
      .Excludes(msa)
      .Type("LETTERS");
  command.Add(
      "--residue", options.residue, AtLeast(1),
      "Draw the attention of this residue, counted from 1, as lines, in the last invariant point attention or that of "
      "--layer");
  command.Add("--out", options.out, "Page (.html) or image (.svg, .png, .pdf) to write; may be repeated")
      .Check(NotEmpty())
      .Required()
      .Type("FILE");
  Option& against = command.Add("--against", options.against, "Folder of another model to compare with on one page")
                        .Type("DIR")
                        .Model();
  command
      .Add("--checkpoints", options.checkpoints,
           "Show all checkpoints that the training in DIR has kept on one page: the best, the last and those of "
           "--average-last")
      .Excludes(against);
  command.Add("--attention", options.attention, "Type of attention to show [all]")
      .Check(OneOf({"encoder", "decoder", "cross", "text-to-image", "image-to-text", "rollout"}))
      .Type("encoder|decoder|cross|text-to-image|image-to-text|rollout");
  command.Add("--layer", options.layer, AtLeast(1), "Layer to show, counted from 1 [all]");
  AddTaskOptions(command, options.translate);
  for (const char* name : {"--task", "--prefix", "--source-language", "--target-language"})
    command.Get(name).Needs(source);
  command.footer =
      "\nExamples:\n"
      "  headlight look model --source 'Ein Hund läuft.' --out dog.html\n"
      "  headlight look bert --text 'Who runs?' --second 'A dog runs.' --attention encoder --out pair.html\n"
      "  headlight look gpt2 --text 'A dog runs because it is late.' --out runs.html\n"
      "  headlight look shapes --text 'a red circle' --layer 4 --out drawn.html\n"
      "  headlight look vit --image cat.jpg --out cat.html\n"
      "  headlight look resnet-50 --image cat.jpg --out classes.html\n"
      "  headlight look vit --image cat.jpg --mass 0.6 --out heads.png\n"
      "  headlight look blip --image cat.jpg --layer 12 --out words.html\n"
      "  headlight look blip-vqa --image cats.jpg --question 'How many cats?' --out question.html\n"
      "  headlight look vilbert --image scene.png --question 'How many shapes?' --detector detr --out regions.html\n"
      "  headlight look clip --text 'a cat on a sofa' --out text.html\n"
      "  headlight look clip --image cat.jpg --text 'a cat' --out score.html --out score.png\n"
      "  headlight look detr --image street.jpg --layer 6 --out street.html --out boxes.png\n"
      "  headlight look params_model_3_ptm.npz --msa query.a3m --layer 48 --out fold.html --out fold.png\n"
      "  headlight look model --checkpoints --source 'Ein Hund läuft.' --target 'A dog runs.' --out training.html\n"
      "  headlight look model --source 'Ein Hund läuft.' --target 'A dog runs.' --attention cross --out dog.pdf";
}

}  // namespace headlight::look
