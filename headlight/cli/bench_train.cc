// headlight bench train: training speed of a translation model of given sizes.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "headlight/cli/bench_report.h"
#include "headlight/cli/choice.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/translation_training.h"
#include "headlight/data/prefetch.h"
#include "headlight/io/config_table.h"
#include "headlight/train/optimizer.h"
#include "headlight/train/tasks/translation.h"

namespace headlight {
namespace {

struct Options {
  std::vector<std::string> train;
  TransformerConfig model;
  int layers = 6;
  std::int32_t heads = 8;
  std::int64_t ffn = 2048;
  VocabularyOptions vocabulary;
  TeacherForcingOptions training;
  ComputeChoice compute = ComputeChoice::automatic;
  std::int64_t steps = 40, warmup_steps = 5;
  bool json = false;
};

// A temporary folder, removed with the object.
class ScratchFolder {
 public:
  ScratchFolder() : path_(std::filesystem::temp_directory_path() / fmt::format("headlight-bench-{}", getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string File(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

void Run(const Options& options) {
  Check(options.steps >= 1 && options.warmup_steps >= 0,
        "--steps must be at least 1 and --warmup-steps 0, not {} and {}", options.steps, options.warmup_steps);
  const Compute compute = Chosen(options.compute);
  TransformerConfig config = options.model;
  config.encoder_layers = config.decoder_layers = options.layers;
  config.encoder_heads = config.decoder_heads = options.heads;
  config.encoder_ffn = config.decoder_ffn = options.ffn;
  config.source_vocabulary = config.target_vocabulary = std::max<std::int64_t>(1, options.vocabulary.size);
  CheckConfig(config);  // before the vocabulary is learned, which takes long
  Note("learning a vocabulary of {} from {} and {}", options.vocabulary.size, options.train[0], options.train[1]);
  const MarianTokenizer tokenizer = LearnVocabulary(options.train[0], options.train[1], options.vocabulary);
  config.source_vocabulary = config.target_vocabulary = tokenizer.size();
  config.start_id = config.pad_id = tokenizer.pad();
  config.end_id = tokenizer.eos();
  const Corpus corpus = [&] {  // mapped, it outlives its file, so that no file is left behind
    const ScratchFolder scratch;
    return Corpus({options.train[0], options.train[1], scratch.File("corpus")},
                  [&](std::string_view text, Side side) { return tokenizer.Encode(text, side); }, 0, {});
  }();

  Transformer model(config);
  model.parameters().Initialise(1);
  model.parameters().SetCompute(compute);
  model.parameters().PrepareTraining();
  Optimizer optimizer({}, model.parameters());
  const TranslationValidation no_validation;
  const TrainingTask task = TranslationTask(model, corpus, {.start_id = config.start_id, .eos_id = config.end_id},
                                            no_validation, options.training);
  Prefetch<TrainingBatch> batches(task.batches({}), 4);

  BenchResult result;
  result.unit = "a step";
  result.compute = compute;
  result.settings = {{"benchmark", "train"},
                     {"layers", options.layers},
                     {"model_dim", config.model},
                     {"heads", options.heads},
                     {"ffn_dim", options.ffn},
                     {"vocabulary_size", tokenizer.size()},
                     {"parameters", model.parameters().count()},
                     {"batch_tokens", options.training.batches.batch_tokens}};
  // The seconds and the target tokens of a step.
  const auto step = [&] {
    const auto begin = std::chrono::steady_clock::now();
    const TrainingBatch batch = batches.Next();
    ComputeGradients(model.parameters(), task.loss, batch.parts, batch.labels,
                     static_cast<std::uint64_t>(optimizer.step));
    optimizer.Step(model.parameters(), 1e-4);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    return std::pair(seconds.count(), batch.labels);
  };
  Progress progress("steps");
  for (std::int64_t i = 0; i < options.warmup_steps; ++i) step();
  for (std::int64_t i = 0; i < options.steps; ++i) {
    const auto [seconds, tokens] = step();
    result.latencies.push_back(seconds);
    result.counted_tokens += tokens;
    progress.Show(i + 1, options.steps);
  }
  StartProfile();
  for (int i = 0; i < 5; ++i) result.profiled_seconds += step().first;
  result.profile = TakeProfile();
  PrintBench(result, options.json);
}

}  // namespace

void AddBenchTrain(CLI::App& bench) {
  const auto [command, options] = NewCommand(bench, "train", "How fast a translation model of given sizes trains", Run);
  command.add_option("--train", options.train, "Parallel text, plain or gzip")
      ->required()
      ->expected(2)
      ->type_name("SOURCE TARGET");
  command.add_option("--layers", options.layers, "Layers of the encoder and of the decoder")->capture_default_str();
  command.add_option("--model-dim", options.model.model, "Size of embeddings and layers")->capture_default_str();
  command.add_option("--heads", options.heads, "Attention heads")->capture_default_str();
  command.add_option("--ffn-dim", options.ffn, "Inner size of the feed-forward network")->capture_default_str();
  command.add_option("--dropout", options.model.dropout, "Of embeddings and sublayers")->capture_default_str();
  command.add_option("--vocabulary-size", options.vocabulary.size, "Subwords of both languages together")
      ->capture_default_str();
  command.add_option("--batch-tokens", options.training.batches.batch_tokens, "Target tokens of a step")
      ->capture_default_str();
  AddTrainingCompute(command, options.compute);
  command.add_option("--steps", options.steps, "Steps that are measured")->capture_default_str();
  command.add_option("--warmup-steps", options.warmup_steps, "Steps before them that are not")->capture_default_str();
  command.add_flag("--json", options.json, "Print one JSON object");
  command.footer(
      "\nExample:\n"
      "  headlight bench train --train train.de train.en --layers 3 --model-dim 256 --ffn-dim 1024 --compute float32");
}

}  // namespace headlight
