#include "headlight/recipes/check_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/line_input.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/text_reader.h"
#include "headlight/recipes/check_findings.h"
#include "headlight/recipes/model_training.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kTasks = {"texts", "parallel", "pairs", "labels", "questions", "tags"};

void CheckNoOptionsOfText(const DataCheck& options, const std::string& folder) {
  const TextColumns& columns = options.columns;
  for (const auto& [name, given] : {std::pair("task", !options.task.empty()),
                                    {"format", options.format.has_value()},
                                    {"text_column", !columns.text.empty()},
                                    {"text_pair_column", !columns.text_pair.empty()},
                                    {"label_column", !columns.label.empty()},
                                    {"source_column", !options.pairs.source.empty()},
                                    {"target_column", !options.pairs.target.empty()},
                                    {"tokenizer", !options.tokenizer.empty()}})
    Check(!given, "`{}` is for text, and {} is a folder of images", name, folder);
}

}  // namespace

void Describe(OptionTable& table, DataCheck& options) {
  table
      .AddFile(
          "FILE", options.files,
          "Text (lines, .tsv, .csv, .jsonl or .json; plain or gzip), or folders with a folder of images for each class")
      .Required();
  table.AddFile("--valid", options.valid, "Validation data, in the same formats: rows that are also in FILE are leaks");
  table
      .Add("--task", options.task, OneOf(kTasks),
           "Contents of a row. texts: a text; parallel: a source and its target, in two files; pairs: these in two "
           "columns; labels: texts and, in the last column, their labels; questions: a question with its context and "
           "answers; tags: words and their tags [texts, or decided by the names in records]")
      .Type("TASK");
  AddTextFormat(table, options.format);
  AddTextColumns(table, options.columns, "Options");
  AddPairColumns(table, options.pairs, "Options");
  table.Add("--max-characters", options.max_characters, AtLeast(1), "Find texts of more characters").ShowDefault();
  Option& tokenizer = table.Add("--tokenizer", options.tokenizer, "Folder of a tokenizer");
  tokenizer.Type("DIR").Model();
  table.Add("--max-tokens", options.max_tokens, AtLeast(1), "Find texts of more tokens").ShowDefault().Needs(tokenizer);
  table
      .Add("--max-ratio", options.max_ratio, NumberFrom(1),
           "Find pairs whose lengths in characters differ by a larger factor")
      .ShowDefault();
  table.Add("--min-side", options.min_side, AtLeast(1), "Find images with fewer pixels on a side").ShowDefault();
  table
      .Add("--most-pixels", options.most_pixels, Between(1, std::int64_t{1} << 40),
           "Images with more pixels than this count as damaged")
      .ShowDefault();
  table
      .Add("--examples", options.examples, Between(0, 1'000'000),
           "Examples of each finding; damaged images are all listed")
      .ShowDefault();
}

CheckResult CheckData(const DataCheck& options, const CheckObserver& observer) {
  Check(!options.files.empty(), "there is no file to check");
  Check(options.task.empty() || std::ranges::find(kTasks, options.task) != kTasks.end(), "`task` must be {}, not {}",
        Alternatives(kTasks), Quoted(options.task));
  Check(options.max_characters >= 1 && options.max_tokens >= 1 && options.max_ratio >= 1 && options.min_side >= 1 &&
            options.most_pixels >= 1 && options.examples >= 0,
        "`max_characters`, `max_tokens`, `max_ratio`, `min_side` and `most_pixels` must be at least 1, and `examples` "
        "0");
  std::vector<std::string> all = options.files;
  all.insert(all.end(), options.valid.begin(), options.valid.end());
  std::int64_t folders = 0;
  for (const std::string& path : all) {
    std::error_code ignored;
    Check(path == "-" || fs::exists(path, ignored), "{}: no such file or folder", path);
    folders += fs::is_directory(path, ignored) ? 1 : 0;
  }
  Check(folders == 0 || folders == std::ssize(all), "{}: files of text and folders of images are checked separately",
        fmt::join(all, ", "));
  if (folders == 0) return CheckTextFiles(options, observer);
  CheckNoOptionsOfText(options, all.front());
  return CheckImageFolders(options, observer);
}

Json ToJson(const CheckResult& result) {
  Json::Array findings;
  for (const Finding& finding : result.findings) {
    Json::Array examples;
    for (const std::string& example : finding.examples) examples.emplace_back(example);
    findings.emplace_back(Json::Object{
        {"kind", finding.kind}, {"count", finding.count}, {"text", finding.text}, {"examples", std::move(examples)}});
  }
  return Json::Object{{"unit", result.unit}, {"count", result.count}, {"findings", std::move(findings)}};
}

std::string UnitOf(const CheckResult& result) {
  return result.unit.substr(0, result.unit.size() - (result.count == 1 ? 1 : 0));
}

std::string CheckSummary(DataCheck options) {
  for (const std::string& path : options.files) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored) && !fs::is_directory(path, ignored)) return "";
  }
  options.examples = 0;
  options.max_characters = kMaxLineBytes;  // the training run itself reports skipped and truncated texts
  options.shifts = options.decode = false;
  CheckResult result;
  try {
    result = CheckData(options);
  } catch (const Error& error) {
    if (error.cause() != ErrorCause::user) throw;
    return "";  // the training run reports the error
  }
  std::string found;
  for (const Finding& finding : result.findings) {
    if (finding.kind == "left_out" || finding.kind == "classes_named_as_sets")
      continue;  // reported by the training run
    found += fmt::format("{}{} {}", found.empty() ? "" : ", ", finding.count, finding.text);
  }
  return fmt::format("checked {} ({} {}): {}", fmt::join(options.files, ", "), result.count, UnitOf(result),
                     found.empty() ? "nothing found" : "warning: " + found + "; headlight check names them");
}

}  // namespace headlight
