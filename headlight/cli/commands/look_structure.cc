#include "headlight/cli/commands/look_structure.h"

#include <optional>
#include <string>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/inspect/drawing/ribbon_drawing.h"
#include "headlight/inspect/structure_page.h"
#include "headlight/pipelines/structure_predictor.h"
#include "headlight/protein/alignment_table.h"

namespace headlight {
namespace {

StructureRecord RecordOf(const LookOptions& options) {
  Check(options.msa.has_value() != options.sequence.has_value(),
        "{}: a structure prediction model needs --msa or --sequence", options.folder);
  for (const auto& [given, name] : {std::pair{options.source.has_value(), "--source"},
                                    {options.text.has_value(), "--text"},
                                    {options.image_path.has_value(), "--image"},
                                    {options.attention.has_value(), "--attention"},
                                    {options.against.has_value(), "--against"},
                                    {options.checkpoints, "--checkpoints"}})
    Check(!given, "{}: {} is not for structure prediction models", options.folder, name);
  const AlignmentTable alignment = options.msa ? ReadAlignmentTable({&*options.msa, 1})
                                               : TableOfSequence(LettersOf(*options.sequence, "--sequence"));
  const StructurePredictor folder = Loaded([&] { return StructurePredictor::Load(options.folder); });
  Progress progress("blocks computed");
  const std::optional<int> layer = options.layer ? std::optional(*options.layer - 1) : std::nullopt;
  return folder.Look(alignment, {.progress = [&](std::int64_t done, std::int64_t most) { progress.Show(done, most); }},
                     layer);
}

}  // namespace

void WritePage(const std::string& path, const std::string& page) {
  constexpr std::size_t megabyte = 1'000'000;
  WriteFile(path, page);
  if (page.size() > 20 * megabyte)
    Note("{} has {} MB, which a browser opens slowly: --layer shows one layer", path, page.size() / megabyte);
}

void LookAtStructure(const LookOptions& options) {
  StructureRecord record = RecordOf(options);
  record.title = NameOfFolder(options.folder);
  const auto residues = std::ssize(record.chain.residues);
  Check(!options.residue || *options.residue <= residues, "--residue {}: the chain has {} residues",
        options.residue.value_or(0), residues);
  for (const std::string& path : options.out) {
    if (path.ends_with(".html") || path.ends_with(".htm")) {
      WritePage(path, StructurePage(record));
    } else {
      // Show the invariant point attention of the last layer, which outputs the structure.
      std::optional<RibbonLook> look;
      if (options.residue) look = RibbonLook{.residue = *options.residue - 1};
      for (std::size_t i = 0; look && i < record.attention.size(); ++i)
        if (record.attention[i].title == record.attention.front().title) look->attention = static_cast<int>(i);
      DrawRibbon(record, look, path);
    }
    Note("{} shows {} residues, {} moments of their folding and {} attentions", path, residues, record.moments.size(),
         record.attention.size());
  }
}

}  // namespace headlight
