// headlight check: finds mistakes in a corpus or in folders of images.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "headlight/cli/program/commands.h"
#include "headlight/cli/program/exit_code.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/recipes/check_data.h"
#include "headlight/text/printable.h"

namespace headlight::check {
namespace {

struct Options : DataCheck {
  bool json = false;
};

std::string TextOf(const CheckResult& result) {
  std::string text = fmt::format("{} {}\n", result.count, UnitOf(result));
  for (const Finding& finding : result.findings) {
    text += fmt::format("{}: {} {}\n", finding.kind, finding.count, finding.text);
    for (const std::string& example : finding.examples) text += "  " + InRow(Rewritten(example)) + "\n";
    if (const std::int64_t more = finding.count - std::ssize(finding.examples); more > 0 && !finding.examples.empty())
      if (finding.kind != "left_out" && finding.kind != "line_counts" && finding.kind != "many_labels")
        text += fmt::format("  and {} more\n", more);
  }
  return text + (result.findings.empty() ? "nothing found\n" : "");
}

void Run(const Options& options) {
  std::vector<std::string> inputs = options.files;
  inputs.insert(inputs.end(), options.valid.begin(), options.valid.end());
  CheckOutputs({}, inputs);
  for (const std::string& path : inputs) Input(path);
  CheckResult result;
  {
    Progress progress("checking");
    result = CheckData(options, {.progress = [&](std::int64_t done) { progress.Show(done, 0); }});
  }
  WriteResult(options.json ? ToJson(result).Line() + "\n" : TextOf(result));
  if (!result.findings.empty()) throw EndedWith{1};
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "check", "Find mistakes in a corpus or in folders of images before a training", Run);
  Describe(command, options);
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nText: duplicates, empty and very long texts, empty files, bytes that are not UTF-8, control characters, "
      "rows with a wrong number of columns, and validation rows that are also in the training data. Pairs: "
      "targets that equal their source, and lengths that differ too much. Parallel files: the line from which "
      "lines are out of step. Labels: names that differ only by spaces or case, a single class, and classes "
      "that only the validation data has. Questions: answers that are not in their context.\n\n"
      "Images: damaged files (all are listed), duplicate files, also between classes and with the validation "
      "images, formats that are not read, wrong extensions, very small images, and wrong class folders.\n\n"
      "The exit code is 0 if nothing is found, 1 if anything is found, and 2 for a mistake in the command line "
      "or a file that cannot be read.\n\n"
      "Examples:\n"
      "  headlight check corpus.txt --tokenizer gpt2 --max-tokens 1024\n"
      "  headlight check train.de train.en --task parallel --valid val.de val.en\n"
      "  headlight check train.tsv --task labels --valid valid.tsv --json\n"
      "  headlight check train.jsonl --source-column de --target-column en\n"
      "  headlight check dev-v2.0.json --task questions\n"
      "  headlight check photos/train --valid photos/valid --min-side 32";
}

}  // namespace headlight::check
