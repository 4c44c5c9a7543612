// headlight bench encode: throughput and latency of a text encoder.
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/random.h"
#include "headlight/cli/bench_report.h"
#include "headlight/cli/bench_texts.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/translation_options.h"
#include "headlight/models/family.h"
#include "headlight/tasks/embedder.h"
#include "headlight/tasks/encoder_folder.h"

namespace headlight {
namespace {

struct Options {
  std::string folder, length = "8:128", states;
  std::int32_t batch = 32, repetitions = 10;
  std::optional<Compute> compute;
  std::uint64_t seed = 1;
  bool json = false;
};

// The hidden states of a batch.
struct Part {
  Tensor hidden;
  Sequences places;
  std::vector<std::size_t> which;
};

// A text's ids and the mean of its hidden states, the usual sentence embedding.
std::string Line(std::span<const std::int32_t> ids, const Matrix<float>& states) {
  Json::Array mean;
  for (std::int64_t column = 0; column < states.columns; ++column) {
    double sum = 0;
    for (std::int64_t row = 0; row < states.rows; ++row) sum += states.row(row)[column];
    mean.emplace_back(sum / static_cast<double>(states.rows));
  }
  return Json(Json::Object{{"ids", Json::Array{ids.begin(), ids.end()}}, {"mean", std::move(mean)}}).Line() + "\n";
}

void Run(const Options& options) {
  CheckOutputs({{"--states", options.states}}, {options.folder});
  if (!options.states.empty()) CheckWritable(options.states);
  const auto model =
      LoadModel<TextEncoder>(options.folder, {.compute = options.compute, .purpose = LoadFor::computing});
  const TextEncoder::Limits& limits = model->limits();
  const LengthRange lengths = ReadLengths("--length", options.length, limits.positions);
  Check(limits.vocabulary > 1, "{}: a vocabulary of {} has no words", options.folder, limits.vocabulary);

  BenchResult result;
  result.tokens = "tokens";
  result.settings = {{"benchmark", "encode"},
                     {"model", options.folder},
                     {"parameters", model->parameters().count()},
                     {"batch", options.batch},
                     {"length", options.length}};
  result.compute = model->parameters().all().front().compute;
  Random random(options.seed);
  std::string states;
  MeasureBatches(
      result, options.repetitions,
      [&] {
        std::vector<Encoding> texts(static_cast<std::size_t>(options.batch));
        for (Encoding& text : texts) {
          text.ids = RandomIds(lengths, limits.vocabulary, {&limits.pad_id, 1}, random);
          text.type_ids.resize(text.ids.size());
        }
        return texts;
      },
      [&](const std::vector<Encoding>& texts) {
        std::vector<Part> parts;
        EncodeInBatches(
            *model, texts, EmbedOptions{}.batch_tokens,
            [&](Context&, const Tensor& hidden, const Sequences& places, std::span<const std::size_t> which) {
              parts.push_back({hidden, places, {which.begin(), which.end()}});
            });
        return parts;
      },
      [&](const std::vector<Encoding>& texts, const std::vector<Part>& parts) {
        for (const Encoding& text : texts) result.counted_tokens += std::ssize(text.ids);
        if (options.states.empty()) return;
        std::vector<std::string> lines(texts.size());
        for (const Part& part : parts)
          for (std::size_t i = 0; i < part.which.size(); ++i)
            lines[part.which[i]] =
                Line(texts[part.which[i]].ids,
                     part.hidden.ViewRows(part.places[i].begin, part.places[i].length).matrix<float>());
        for (const std::string& line : lines) states += line;
      });
  if (!options.states.empty()) WriteFile(options.states, states);
  PrintBench(result, options.json);
}

}  // namespace

void AddBenchEncode(CLI::App& bench) {
  const auto [command, options] = NewCommand(bench, "encode", "Measure how fast an encoder reads random texts", Run);
  command.add_option("DIR", options.folder, "The model's folder, with or without a tokenizer")
      ->required()
      ->check(Folder());
  command.add_option("--batch", options.batch, "Texts per batch, divided as `embed` does")
      ->check(Between(1, 65536))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--length", options.length, "Tokens per text")->type_name("FROM:TO")->capture_default_str();
  AddComputeOption(command, options.compute);
  command.add_option("--repetitions", options.repetitions, "Batches to measure, after one that is not")
      ->check(AtLeast(1))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Random seed of the texts")
      ->check(Seed())
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--states", options.states,
                  "Write each text's ids and the mean of its hidden states to this file, as JSON lines")
      ->check(NotEmpty())
      ->type_name("FILE");
  command.add_flag("--json", options.json, "Print one JSON object");
  command.footer(
      "\nExample:\n"
      "  headlight bench encode model --batch 32 --length 8:128 --compute int8 --threads 2");
}

}  // namespace headlight
