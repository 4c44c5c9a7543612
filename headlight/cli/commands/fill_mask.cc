// headlight fill-mask: predicts masked tokens.
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/pipelines/mask_filler.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::fill_mask {
namespace {

struct Options : LineOptions {
  std::string folder;
  std::int64_t top = 5;
  std::optional<Compute> compute;
};

void Run(const Options& given) {
  Options options = given;
  const MaskFiller filler = Loaded([&] { return MaskFiller::Load(options.folder, {.compute = options.compute}); });
  options.source.proteins = filler.reads_proteins();
  options.source.mask = filler.mask();
  const auto rows = [&](const LineBatch& batch) {
    const auto filled = filler.Fill(
        batch.lines, {.top_k = options.top,
                      .truncate = options.truncate,
                      .name_of = batch.name_of,
                      .on_truncated = [&](std::size_t i) { NoteTruncated(batch.name_of(i), filler.longest()); }});
    std::vector<std::string> printed(filled.size());
    for (std::size_t line = 0; line < filled.size(); ++line) {
      const std::int64_t number = batch.first + static_cast<std::int64_t>(line);
      Json::Array masks;
      for (std::size_t mask = 0; mask < filled[line].size(); ++mask) {
        Json::Array tokens;
        for (const FilledToken& token : filled[line][mask]) {
          tokens.push_back(Json::Object{{"text", token.text}, {"id", token.id}, {"score", token.score}});
          if (!options.json)
            printed[line] += fmt::format("{}\t{}\t{:.4f}\t{}\n", number, mask + 1, token.score, token.text);
        }
        masks.push_back(std::move(tokens));
      }
      if (options.json) printed[line] = Json(Json::Object{{"line", number}, {"masks", std::move(masks)}}).Line() + "\n";
    }
    return printed;
  };
  ForEachLineBatch(options, "lines filled", BytesAhead(FillOptions().batch_tokens), rows, /*error_row=*/"");
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "fill-mask", "Predict masked tokens", Run);
  AddFolder(command, options.folder, "Folder of an encoder with a masked-language-model head, such as BERT's");
  command.Add("FILE", options.input,
              "Texts, one per line or as records (see --format), plain or gzip; for an ESM also FASTA; - is "
              "standard input [-]");
  command.Add("--top-k", options.top, AtLeast(1), "Tokens per mask").ShowDefault();
  command.Add("--json", options.json, "Print one JSON object per line of input");
  Describe(command, options.source);
  AddTruncate(command, options);
  AddSkipErrors(command, options);
  AddComputeOption(command, options.compute);
  command.footer =
      "\nThe mask is the tokenizer's mask token, such as [MASK] or <mask>. Each line of the output is "
      "LINE<tab>MASK<tab>PROBABILITY<tab>TOKEN, with the best token of a mask first. Text without a mask is an "
      "error, and so is text of more tokens than the model reads, unless --truncate is given.\n\n"
      "Examples:\n"
      "  echo 'Paris is the [MASK] of France.' | headlight fill-mask bert-base-uncased\n"
      "  headlight fill-mask roberta-base texts.txt --top-k 1 --json";
}

}  // namespace headlight::fill_mask
