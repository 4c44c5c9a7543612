// headlight bench translate: measures throughput and latency of translation.
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/random.h"
#include "headlight/cli/bench/bench_report.h"
#include "headlight/cli/bench/bench_texts.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/generate/decode.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::bench_translate {
namespace {

struct Options {
  std::string folder, source_length = "10:30", tokens;
  std::int32_t batch_size = 32, target_length = 25, repetitions = 10;
  DecodingOptions decoding;
  std::optional<Compute> compute;
  bool draft = false;
  std::uint64_t seed = 1;
  bool json = false;
};

using Ids = std::vector<std::int32_t>;

std::vector<Ids> RandomSources(const Options& options, const EncoderDecoder::Limits& limits, Random& random) {
  const LengthRange lengths = ReadLengths("--source-length", options.source_length, limits.positions - 1);
  const std::int32_t without[] = {limits.end_id, limits.pad_id, limits.start_id};
  std::vector<Ids> sources(static_cast<std::size_t>(options.batch_size));
  for (Ids& source : sources) {
    source = RandomIds(lengths, limits.source_vocabulary, without, random);
    source.push_back(limits.end_id);
  }
  return sources;
}

std::vector<std::vector<Hypothesis>> Translate(const EncoderDecoder& model, const std::vector<Ids>& sources,
                                               const DecodingOptions& options) {
  Ids ids, lengths;
  for (const Ids& source : sources) {
    ids.insert(ids.end(), source.begin(), source.end());
    lengths.push_back(static_cast<std::int32_t>(source.size()));
  }
  return Decode(model, ids, PackedSequences(lengths), options);
}

void Run(const Options& options) {
  Check(!options.draft || (options.batch_size == 1 && options.decoding.search.beam_size == 1),
        "--draft needs --batch-size 1 and --beam-size 1: drafts are for one sentence and one beam");
  CheckOutputs({{"--output-tokens", options.tokens}}, {options.folder});
  if (!options.tokens.empty()) CheckWritable(options.tokens);
  const auto model = Loaded([&] {
    return LoadModel<EncoderDecoder>(
        options.folder,
        {.compute = options.compute, .purpose = options.draft ? LoadFor::computing_with_draft : LoadFor::computing});
  });
  const EncoderDecoder::Limits& limits = model->limits();
  Check(limits.source_vocabulary > 3, "{}: the vocabulary has {} tokens; at least 4 are needed", options.folder,
        limits.source_vocabulary);
  Check(options.target_length >= 1 && options.target_length <= limits.positions,
        "--target-length must be from 1 to the model's {} positions, not {}", limits.positions, options.target_length);
  DecodingOptions decoding = options.decoding;
  decoding.max_length = decoding.min_length = options.target_length;

  Random random(options.seed);
  BenchResult result;
  result.settings = {{"benchmark", "translate"},
                     {"model", options.folder},
                     {"parameters", model->parameters().count()},
                     {"batch_size", options.batch_size},
                     {"beam_size", decoding.search.beam_size},
                     {"draft", options.draft},
                     {"source_length", options.source_length},
                     {"target_length", options.target_length}};
  result.compute = model->parameters().all().front().compute;
  std::string tokens;
  MeasureBatches(
      result, options.repetitions, [&] { return RandomSources(options, limits, random); },
      [&](const std::vector<Ids>& sources) { return Translate(*model, sources, decoding); },
      [&](const std::vector<Ids>& sources, const std::vector<std::vector<Hypothesis>>& translations) {
        for (std::size_t i = 0; i < sources.size(); ++i) {
          const Hypothesis& best = translations[i].front();
          result.counted_tokens += static_cast<std::int64_t>(best.ids.size());
          if (!options.tokens.empty())
            tokens += Json(Json::Object{
                               {"source", sources[i]}, {"target", best.ids}, {"log_probability", best.log_probability}})
                          .Line() +
                      "\n";
        }
      });
  if (!options.tokens.empty()) WriteFile(options.tokens, tokens);
  PrintBench(result, options.json);
}

}  // namespace

void Add(Command& bench) {
  const auto [command, options] =
      NewCommand(bench, "translate", "Measure how fast a model translates random sentences", Run);
  AddFolder(command, options.folder, "Folder of the model, with or without a tokenizer");
  command.Add("--batch-size", options.batch_size, Between(1, 65536), "Sentences translated at once").ShowDefault();
  command.Add("--beam-size", options.decoding.search.beam_size, Between(1, 1024), "Beams; 1: greedy").ShowDefault();
  command.Add("--source-length", options.source_length, "Tokens per source sentence").Type("FROM:TO").ShowDefault();
  command.Add("--target-length", options.target_length, AtLeast(1), "Tokens per translation").ShowDefault();
  AddComputeOption(command, options.compute);
  AddDraftOption(command, options.draft);
  command.Add("--repetitions", options.repetitions, AtLeast(1), "Batches to measure, after one to warm up")
      .ShowDefault();
  command.Add("--seed", options.seed, Seed(), "Random seed of the sentences").ShowDefault();
  command.AddFile("--output-tokens", options.tokens,
                  "Write each sentence and its translation to this file, as JSON lines of token ids");
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nExample:\n"
      "  headlight bench translate model --batch-size 1 --beam-size 4 --compute int8 --threads 2";
}

}  // namespace headlight::bench_translate
