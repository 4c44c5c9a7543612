// headlight bench train: measures the training speed of a translation model of given sizes.
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "headlight/base/choice.h"
#include "headlight/base/scratch_folder.h"
#include "headlight/cli/bench/bench_report.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/prefetch.h"
#include "headlight/io/config_table.h"
#include "headlight/recipes/train_translation.h"
#include "headlight/train/objectives/translation.h"
#include "headlight/train/optimizer.h"

namespace headlight::bench_train {
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

void Run(const Options& options) {
  const Compute compute = Chosen(options.compute);
  TransformerConfig config = options.model;
  config.encoder_layers = config.decoder_layers = options.layers;
  config.encoder_heads = config.decoder_heads = options.heads;
  config.encoder_ffn = config.decoder_ffn = options.ffn;
  config.source_vocabulary = config.target_vocabulary = std::max<std::int64_t>(1, options.vocabulary.size);
  CheckConfig(config);  // checked first, because training the vocabulary takes a long time
  Note("training a vocabulary of {} on {} and {}", options.vocabulary.size, options.train[0], options.train[1]);
  const MarianTokenizer tokenizer = LearnVocabulary(options.train, options.vocabulary);
  config.source_vocabulary = config.target_vocabulary = tokenizer.size();
  config.start_id = config.pad_id = tokenizer.pad();
  config.end_id = tokenizer.eos();
  const Corpus corpus = [&] {  // memory-mapped, so its file can be removed at once
    const ScratchFolder scratch;
    return Corpus({options.train[0], options.train[1], scratch.File("corpus")},
                  [&](std::string_view text, Side side) { return tokenizer.Encode(text, side); }, 0, {});
  }();

  Transformer model(config);
  model.parameters().Initialize(1);
  model.parameters().SetCompute(compute);
  model.parameters().PrepareTraining();
  Optimizer optimizer({}, model.parameters());
  const TranslationValidation no_validation;
  const TrainingTask task = TranslationTask(model, corpus, {.start_id = config.start_id, .eos_id = config.end_id},
                                            no_validation, options.training);
  Prefetch<TrainingBatch> batches(task.batches({}), 4);

  BenchResult result;
  result.unit = "per step";
  result.compute = compute;
  result.settings = {{"benchmark", "train"},
                     {"layers", options.layers},
                     {"model_dim", config.model},
                     {"heads", options.heads},
                     {"ffn_dim", options.ffn},
                     {"vocabulary_size", tokenizer.size()},
                     {"parameters", model.parameters().count()},
                     {"batch_tokens", options.training.batches.batch_size}};
  // Returns the duration of a step in seconds, and the number of target tokens.
  const auto step = [&] {
    const auto begin = std::chrono::steady_clock::now();
    const TrainingBatch batch = batches.Next();
    ComputeGradients(model.parameters(), task.loss, batch.parts,
                     {.labels = batch.labels, .seed = static_cast<std::uint64_t>(optimizer.step)});
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
  result.profiled_steps = 5;
  for (std::int64_t i = 0; i < result.profiled_steps; ++i) result.profiled_seconds += step().first;
  result.profile = TakeProfile();
  PrintBench(result, options.json);
}

}  // namespace

void Add(Command& bench) {
  const auto [command, options] =
      NewCommand(bench, "train", "Measure how fast a translation model of given sizes trains", Run);
  command.Add("--train", options.train, "Parallel text, plain or gzip")
      .Check(NotEmpty())
      .Required()
      .Values(2)
      .Type("SOURCE TARGET");
  const auto add = [&command = command](const char* name, auto& value, const OptionCheck& check,
                                        const char* description) -> Option& {
    return command.Add(name, value, check, description).ShowDefault();
  };
  add("--layers", options.layers, AtLeast(1), "Layers of the encoder and of the decoder");
  add("--model-dim", options.model.model, AtLeast(1), "Size of embeddings and layers");
  add("--heads", options.heads, AtLeast(1), "Attention heads");
  add("--ffn-dim", options.ffn, AtLeast(1), "Inner size of the feed-forward network");
  add("--dropout", options.model.dropout, NumberBelow(0, 1), "Dropout of embeddings and sublayers").Type("X");
  add("--vocabulary-size", options.vocabulary.size, AtLeast(1), "Subwords of both languages together");
  add("--batch-tokens", options.training.batches.batch_size, AtLeast(1), "Target tokens per step");
  AddTrainingCompute(command, options.compute);
  add("--steps", options.steps, AtLeast(1), "Steps to measure");
  add("--warmup-steps", options.warmup_steps, AtLeast(0), "Steps that warm up before them and are not measured");
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nExample:\n"
      "  headlight bench train --train train.de train.en --layers 3 --model-dim 256 --ffn-dim 1024 --compute float32";
}

}  // namespace headlight::bench_train
