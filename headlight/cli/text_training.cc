#include "headlight/cli/text_training.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/cli/training_run.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/kinds/language_model.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/text/tokenizers/fast_tokenizer_config.h"

namespace headlight {

void AddTextTrainingOptions(OptionTable& command, TextTrainingOptions& options, const std::string& texts) {
  Option& from = AddModelTrainingOptions(command, options,
                                         {.train = "Text to train on: " + texts,
                                          .valid = "Text to validate on, likewise",
                                          .from = "Folder of a model to fine-tune, with its tokenizer",
                                          .unit = {}});
  command.Add("--tokenizer", options.tokenizer, "Folder of the tokenizer for a model from scratch")
      .Check(ExistingFolder())
      .Excludes(from)
      .Type("DIR");
  command.Add("--positions", options.positions, AtLeast(1), "Tokens of the longest text")
      .Excludes(from)
      .Group(kModelGroup)
      .ShowDefault();
  Describe(command, "--schedule", "Learning rate schedule after the warm-up [cosine; with --from linear]");
  Describe(command, "--learning-rate", "Peak learning rate [0.001; with --from 0.00005]");  // in place of 5e-05
  Describe(command, "--weight-decay", "AdamW's weight decay [0; with --from 0.01]");
}

TrainingFolder BeginTextTraining(TextTrainingOptions& options) {
  // The usual settings of fine-tuning, as in Devlin et al., "BERT", 2019, appendix A.3.
  if (!options.from_scratch() && !options.given("--schedule")) options.training.schedule.kind = ScheduleKind::linear;
  if (!options.from_scratch() && !options.given("--weight-decay")) options.training.adam.weight_decay = 0.01;
  CompleteModelTraining(options);
  Check(options.from.empty() != (options.tokenizer.empty() && options.tokenizer_json.empty()),
        "either --from DIR, to fine-tune a model, or --tokenizer DIR, for one from scratch");
  if (options.validate_split > 0) CheckNoPipe(options.train);
  CheckReadable(options.train);
  CheckReadable(options.valid);
  return TrainingFolder(options.out, options.resume);
}

PipelineTokenizer TokenizerOf(const TextTrainingOptions& options) {
  return options.tokenizer_json.empty() ? PipelineTokenizer::Load(TransformerFolder(options.folder()))
                                        : PipelineTokenizer::Parse(options.tokenizer_json, "the built-in tokenizer");
}

std::int32_t TokenOf(const PipelineTokenizer& tokenizer, const std::string& folder, const char* what,
                     std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const std::optional<std::int32_t> id = tokenizer.Find(name)) return *id;
  Fail("{}: the tokenizer has no {}: none of {}", folder, what, fmt::join(names, ", "));
}

void SetSpecialTokens(const PipelineTokenizer& tokenizer, const std::string& folder, MaskingOptions& masking) {
  masking.mask_id = TokenOf(tokenizer, folder, "mask", {"[MASK]", "<mask>"});
  for (std::int32_t id = 0; id < tokenizer.size(); ++id)
    if (tokenizer.IsSpecial(id)) masking.special_ids.push_back(id);
}

void NoteTexts(TrainingProgress& progress, const std::vector<std::string>& paths, const TextShare& share,
               const TextExamples& read) {
  CheckNotEmpty(read.texts.size(), "texts", paths, share);
  progress.Note(
      fmt::format("{}: {} texts, {} tokens{}", fmt::join(paths, ", "), read.texts.size(), read.tokens,
                  read.cut > 0 ? fmt::format("; {} longer than the model are cut into pieces", read.cut) : ""));
  for (const std::string& warning : read.warnings) progress.Note("warning: " + warning);
}

namespace {

TokenizerOfModel ReadsAs(const Model& model) {
  if (const auto* encoder = dynamic_cast<const TextEncoder*>(&model))
    return {.longest = encoder->limits().positions, .reads_types = encoder->reads_types()};
  if (const auto* pairs = dynamic_cast<const RegionTextEncoder*>(&model))
    return {.longest = pairs->limits().positions, .reads_types = pairs->limits().types > 1};
  if (const auto* language = dynamic_cast<const LanguageModel*>(&model))
    return {.longest = language->limits().positions, .pads_left = true};
  return {.longest = dynamic_cast<const EncoderDecoder&>(model).limits().positions};
}

}  // namespace

void SaveWithTokenizer(const Model& model, const TextTrainingOptions& options, const std::string& to) {
  model.Save(to);
  if (!options.tokenizer_json.empty())
    WriteFile(to + "/tokenizer.json", options.tokenizer_json);
  else if (options.from_scratch())
    CopyTokenizer(options.tokenizer, to);
  else
    CopyBesideModel(options.from, to);
  WriteFastTokenizerConfig(to, ReadsAs(model));
}

void RunTextTraining(const TrainingTask& task, TextTrainingOptions& options, const char* name, const std::string& use,
                     std::uint64_t corpus_hash, Json of, TrainingProgress& progress) {
  of.Set("batch_tokens", options.batches.batch_tokens);
  if (options.from_scratch()) of.Set("positions", options.positions);
  const auto save = [&](const std::string& to) { SaveWithTokenizer(*task.model, options, to); };
  RunModelTraining(task, options, name, use, corpus_hash, std::move(of), save, progress);
}

}  // namespace headlight
