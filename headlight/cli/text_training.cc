#include "headlight/cli/text_training.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/training_run.h"
#include "headlight/io/model_folder.h"

namespace headlight {

void AddTextTrainingOptions(CLI::App& command, TextTrainingOptions& options, const std::string& texts) {
  options.training.schedule = {.kind = ScheduleKind::cosine, .warmup = kWarmupUnlessGiven, .peak = 1e-3};
  options.training.adam.clip_norm = 1;
  command.add_option("--train", options.train, "Text to train on: " + texts)->required()->type_name("FILE");
  command.add_option("--valid", options.valid, "Text to validate on, likewise")->required()->type_name("FILE");
  command.add_option("--out", options.out, "Folder for the model and the training's state")
      ->required()
      ->type_name("DIR");
  CLI::Option* from = command.add_option("--from", options.from, "Folder of a model to fine-tune, with its tokenizer");
  from->check(Folder())->type_name("DIR");
  command.add_option("--tokenizer", options.tokenizer, "Folder of the tokenizer for a model from scratch")
      ->check(Folder())
      ->excludes(from)
      ->type_name("DIR");
  ModelSizes& sizes = options.sizes;
  const auto add_size = [&](const char* name, auto& value, const char* description) {
    return command.add_option(name, value, description)
        ->check(AtLeast(1))
        ->type_name("N")
        ->excludes(from)
        ->group("A model from scratch");
  };
  add_size("--layers", sizes.layers, "Layers")->capture_default_str();
  add_size("--model-dim", sizes.model, "Size of embeddings and layers")->capture_default_str();
  add_size("--heads", sizes.heads, "Attention heads")->capture_default_str();
  add_size("--ffn-dim", sizes.ffn, "Inner size of the feed-forward network [4 times the model's]");
  add_size("--positions", sizes.positions, "Tokens of the longest text")->capture_default_str();
  command.add_option("--dropout", sizes.dropout, "Dropout of embeddings, sublayers and attention")
      ->check(NumberBelow(0, 1))
      ->type_name("X")
      ->excludes(from)
      ->group("A model from scratch")
      ->capture_default_str();
  AddTrainingOptions(command, options.training, options.batches, options.compute, options.profile, options.resume);
  command.get_option("--warmup")
      ->default_str("")
      ->description("Steps of linear warm-up to the peak [200, or a tenth of at most 400 steps]");
}

void BeginTextTraining(TextTrainingOptions& options) {
  CompleteTrainingOptions(options.training);
  Check(options.from.empty() != options.tokenizer.empty(),
        "either --from DIR, to go on from a model, or --tokenizer DIR, for one from scratch");
  CheckTrainingFolder(options.out, options.resume);
  options.batches.seed = options.training.seed;
  options.training.schedule.model = options.sizes.model;
}

std::int32_t TokenOf(const PipelineTokenizer& tokenizer, const std::string& folder, const char* what,
                     std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const std::optional<std::int32_t> id = tokenizer.Find(name)) return *id;
  Fail("{}: the tokenizer has no {}: none of {}", folder, what, fmt::join(names, ", "));
}

void NoteTexts(TrainingProgress& progress, const std::vector<std::string>& paths, const TextExamples& read) {
  const std::string names = fmt::format("{}", fmt::join(paths, ", "));
  Check(!read.texts.empty(), "{}: there is no text in it", names);
  progress.Note(
      fmt::format("{}: {} texts, {} tokens{}", names, read.texts.size(), read.tokens,
                  read.cut > 0 ? fmt::format("; {} longer than the model are cut into pieces", read.cut) : ""));
  for (const std::string& warning : read.warnings) progress.Note("warning: " + warning);
}

void RunTextTraining(const TrainingTask& task, TextTrainingOptions& options, const char* name,
                     std::uint64_t corpus_hash, Json of, TrainingProgress& progress) {
  of.Set("task", name);
  of.Set("corpus_hash", fmt::format("{:016x}", corpus_hash));
  of.Set("parameters", task.model->parameters().count());
  of.Set("dropout", options.sizes.dropout);
  of.Set("batch_tokens", options.batches.batch_tokens);
  CatchInterrupts();
  RunTraining(task, options.training,
              {.out = options.out,
               .of = std::move(of),
               .save =
                   [&](const std::string& to) {
                     task.model->Save(to);
                     CopyBesideModel(options.folder(), to);
                   },
               .compute = Chosen(options.compute),
               .resume = options.resume,
               .profile = options.profile},
              progress);
}

}  // namespace headlight
