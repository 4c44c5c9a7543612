// headlight bench generate: measures throughput and latency of a language model for the prompt and for decoding.
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/random.h"
#include "headlight/cli/bench/bench_report.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/generate/generate.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::bench_generate {
namespace {

struct Options {
  std::string folder, tokens;
  std::int32_t batch_size = 1, prompt_length = 128, new_tokens = 64, repetitions = 10;
  std::optional<Compute> compute;
  bool draft = false;
  std::uint64_t seed = 1;
  bool json = false;
};

using Ids = std::vector<std::int32_t>;

std::vector<Ids> RandomPrompts(const Options& options, std::int64_t vocabulary, Random& random) {
  std::vector<Ids> prompts(static_cast<std::size_t>(options.batch_size));
  for (Ids& prompt : prompts)
    for (std::int32_t i = 0; i < options.prompt_length; ++i)
      prompt.push_back(static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(vocabulary))));
  return prompts;
}

// The times in seconds of one repetition: its start, the first tokens of all texts, and each later token of all texts.
struct Repetition {
  std::vector<double> seconds;
  double cache_bytes = 0;  // keys and values that all decoding steps read
  std::vector<Ids> generated;
};

Repetition Generated(const LanguageModel& model, const std::vector<Ids>& prompts, std::int32_t length,
                     const std::function<void()>& after_reading) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  Repetition repetition;
  std::size_t words = 0;
  // The prefill generates the first token.
  GenerationOptions options{.max_new_tokens = length + 1, .min_new_tokens = length + 1};
  // All prompts are processed in one prefill. Otherwise decoding of the first texts would overlap with the prefill of
  // others.
  DecodingBatch batch(model, {.pass_tokens = std::numeric_limits<std::int64_t>::max()});
  options.on_token = [&](std::size_t, std::int32_t) {
    if (++words % prompts.size() == 0) repetition.seconds.push_back(now());
    if (words == prompts.size()) after_reading();
    return true;
  };
  repetition.seconds.push_back(now());
  std::map<std::int64_t, std::size_t> texts;
  for (DecodingRequest& request : RequestsFor(model, prompts, options))
    texts.emplace(batch.Add(std::move(request)), texts.size());
  repetition.generated.resize(prompts.size());
  while (!batch.empty()) {
    if (words >= prompts.size())  // each text adds one token and attends to all its tokens
      repetition.cache_bytes += static_cast<double>(batch.cached_tokens() + static_cast<std::int64_t>(batch.size())) *
                                static_cast<double>(batch.token_bytes());
    for (const Decoded& text : batch.Step()) {
      if (text.error != nullptr) std::rethrow_exception(text.error);
      repetition.generated[texts.at(text.id)] = text.hypotheses.front().ids;
    }
  }
  return repetition;
}

void Run(const Options& options) {
  Check(!options.draft || options.batch_size == 1, "--draft needs --batch-size 1: drafts are for one text at a time");
  CheckOutputs({{"--output-tokens", options.tokens}}, {options.folder});
  if (!options.tokens.empty()) CheckWritable(options.tokens);
  const auto model = Loaded([&] {
    return LoadModel<LanguageModel>(
        options.folder,
        {.compute = options.compute, .purpose = options.draft ? LoadFor::computing_with_draft : LoadFor::computing});
  });
  const LanguageModel::Limits& limits = model->limits();
  Check(options.prompt_length >= 1 && options.new_tokens >= 1 &&
            std::int64_t{options.prompt_length} + options.new_tokens <= limits.positions,
        "--prompt-length and --new-tokens must be at least 1 and together at most the model's {} positions, not {} and "
        "{}",
        limits.positions, options.prompt_length, options.new_tokens);

  Random random(options.seed);
  BenchResult result;
  result.unit = "per token of each";
  result.settings = {{"benchmark", "generate"},
                     {"model", options.folder},
                     {"parameters", model->parameters().count()},
                     {"batch_size", options.batch_size},
                     {"prompt_length", options.prompt_length},
                     {"new_tokens", options.new_tokens},
                     {"draft", options.draft}};
  result.compute = model->parameters().all().front().compute;
  result.reading.emplace();
  std::string tokens;
  const auto nothing = [] {};
  const std::vector<Ids> warm_up = RandomPrompts(options, limits.vocabulary, random);
  Generated(*model, warm_up, options.new_tokens, nothing);
  Progress progress("batches");
  for (std::int32_t i = 0; i < options.repetitions; ++i) {
    const std::vector<Ids> prompts = RandomPrompts(options, limits.vocabulary, random);
    const Repetition repetition = Generated(*model, prompts, options.new_tokens, nothing);
    result.reading->latencies.push_back(repetition.seconds[1] - repetition.seconds[0]);
    for (std::size_t step = 2; step < repetition.seconds.size(); ++step)
      result.latencies.push_back(repetition.seconds[step] - repetition.seconds[step - 1]);
    result.reading->cache_bytes += repetition.cache_bytes / options.new_tokens / options.repetitions;
    for (std::size_t text = 0; text < prompts.size() && !options.tokens.empty(); ++text)
      tokens += Json(Json::Object{{"prompt", prompts[text]}, {"text", repetition.generated[text]}}).Line() + "\n";
    progress.Show(i + 1, options.repetitions);
  }
  result.reading->tokens = std::int64_t{options.repetitions} * options.batch_size * options.prompt_length;
  result.counted_tokens = std::int64_t{options.repetitions} * options.batch_size * options.new_tokens;

  StartProfile();
  const Repetition profiled = Generated(*model, warm_up, options.new_tokens, [&] {
    result.reading->profile = TakeProfile();
    StartProfile();
  });
  result.profile = TakeProfile();
  result.profiled_steps = options.new_tokens;
  double weight_bytes = 0;
  for (const ProfileEntry& entry : result.profile) weight_bytes += entry.weight_bytes;
  result.reading->weight_bytes = std::llround(weight_bytes / options.new_tokens);
  result.reading->profiled_seconds = profiled.seconds[1] - profiled.seconds[0];
  result.profiled_seconds = profiled.seconds.back() - profiled.seconds[1];
  if (!options.tokens.empty()) WriteFile(options.tokens, tokens);
  PrintBench(result, options.json);
}

}  // namespace

void Add(Command& bench) {
  const auto [command, options] =
      NewCommand(bench, "generate", "Measure how fast a language model reads prompts and generates text", Run);
  AddFolder(command, options.folder, "Folder of the model, with or without a tokenizer, or GGUF file");
  command.Add("--batch-size", options.batch_size, Between(1, 65536), "Texts generated at once").ShowDefault();
  command.Add("--prompt-length", options.prompt_length, AtLeast(1), "Tokens per prompt").ShowDefault();
  command
      .Add("--new-tokens", options.new_tokens, AtLeast(1),
           "Tokens generated after the first, which the pass over the prompt gives")
      .ShowDefault();
  AddComputeOption(command, options.compute, ModelFiles::folders_and_gguf);
  AddDraftOption(command, options.draft);
  command.Add("--repetitions", options.repetitions, AtLeast(1), "Batches to measure, after one to warm up")
      .ShowDefault();
  command.Add("--seed", options.seed, Seed(), "Random seed of the prompts").ShowDefault();
  command.AddFile("--output-tokens", options.tokens,
                  "Write each prompt and its continuation to this file, as JSON lines of token ids");
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nExample:\n"
      "  headlight bench generate gpt2 --batch-size 16 --compute int8 --threads 2";
}

}  // namespace headlight::bench_generate
