#include "headlight/recipes/text_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/text_inputs.h"
#include "headlight/recipes/check_data.h"
#include "headlight/text/tokenizers/fast_tokenizer_config.h"

namespace headlight {

void Describe(OptionTable& table, TextTraining& options, const TrainingDefaults& defaults, const std::string& texts) {
  Describe(table, static_cast<ModelTraining&>(options), defaults,
           {.train = "Text to train on: " + texts,
            .valid = "Text to validate on, in the same formats",
            .from = "Folder of a model to fine-tune, with its tokenizer"});
  Option& from = table.Get("--from");
  table.Add("--tokenizer", options.tokenizer, "Folder of the tokenizer for a model from scratch")
      .Model(ExistingFolder())
      .Excludes(from)
      .Type("DIR");
  table.Add("--positions", options.positions, AtLeast(1), "Tokens of the longest text")
      .Excludes(from)
      .Group(kModelGroup)
      .Default("512");
}

TrainingFolder BeginTextTraining(TextTraining& options, bool tokenizes) {
  Check(options.from.empty() != (options.tokenizer.empty() && tokenizes),
        "either `from` DIR, to fine-tune a model, or `tokenizer` DIR, for one from scratch");
  if (options.validate_split > 0) CheckNoPipe(options.train);
  CheckReadable(options.train);
  CheckReadable(options.valid);
  return TrainingFolder(options.out, options.resume, options.ranks);
}

void SetSizes(const TrainingPlan& plan, BertConfig& config) {
  config.model = plan.sizes.model;
  config.layers = plan.sizes.layers;
  config.heads = plan.sizes.heads;
  config.ffn = plan.sizes.inner();
  config.dropout = plan.dropout;
  config.attention_dropout = plan.attention_dropout;
}

std::int32_t TokenOf(const PipelineTokenizer& tokenizer, const std::string& folder, const char* what,
                     std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const std::optional<std::int32_t> id = tokenizer.Find(name)) return *id;
  Fail("{}: the tokenizer has no {}: none of {}", folder, what, fmt::join(names, ", "));
}

void NoteCheck(const TrainingObserver& observer, const DataCheck& data) {
  if (const std::string summary = CheckSummary(data); !summary.empty()) Note(observer, summary);
}

void NoteCheckOfTexts(const TrainingObserver& observer, const std::vector<std::string>& files,
                      const TextSource& source) {
  DataCheck data;
  data.files = files;
  data.task = "texts";
  data.format = source.format;
  data.columns = source.columns;
  NoteCheck(observer, data);
}

void SetSpecialTokens(const PipelineTokenizer& tokenizer, const std::string& folder, MaskingOptions& masking) {
  masking.mask_id = TokenOf(tokenizer, folder, "mask", {"[MASK]", "<mask>"});
  for (std::int32_t id = 0; id < tokenizer.size(); ++id)
    if (tokenizer.IsSpecial(id)) masking.special_ids.push_back(id);
}

std::string TruncatedNote(std::int64_t texts) {
  return texts == 1 ? "1 text is longer than the model reads at once: its end is left out"
                    : fmt::format("{} texts are longer than the model reads at once: their ends are left out", texts);
}

void NoteTexts(const TrainingObserver& observer, const std::vector<std::string>& paths, const TextShare& share,
               const TextExamples& read) {
  CheckNotEmpty(read.texts.size(), "texts", paths, share);
  Note(observer,
       fmt::format("{}: {}, {}{}", fmt::join(paths, ", "), Counted(read.texts.size(), "text"),
                   Counted(read.tokens, "token"),
                   read.cut > 0 ? fmt::format("; {} longer than the model are cut into pieces", read.cut) : ""));
  if (read.truncated > 0) Note(observer, TruncatedNote(read.truncated));
  for (const std::string& warning : read.warnings) Note(observer, "warning: " + warning);
}

void SaveWithTokenizer(const Model& model, const TextTraining& options, const std::string& tokenizer_json,
                       const std::string& to) {
  model.Save(to);
  if (!tokenizer_json.empty())
    WriteFile(to + "/tokenizer.json", tokenizer_json);
  else if (options.from_scratch())
    CopyTokenizer(options.tokenizer, to);
  else
    CopyBesideModel(options.from, to);
  const TextInputs inputs = TextInputsOf(model);
  WriteFastTokenizerConfig(
      to, TokenizerOfModel{.longest = inputs.longest, .reads_types = inputs.types, .pads_left = inputs.continued});
}

TrainingResult RunTextTraining(const TrainingTask& task, const TextTraining& options, const TrainingPlan& plan,
                               const char* name, const std::string& labels, std::uint64_t corpus_hash, Json of,
                               const TrainingObserver& observer, const std::string& tokenizer_json) {
  of.Set("batch_tokens", plan.batches.batch_size);
  if (options.from_scratch()) of.Set("positions", options.longest());
  const auto save = [&](const std::string& to) { SaveWithTokenizer(*task.model, options, tokenizer_json, to); };
  return RunModelTraining(task, options, plan, name, labels, corpus_hash, std::move(of), save, observer);
}

}  // namespace headlight
