// headlight bench fold: measures how fast a structure prediction model folds a random chain.
#include <memory>
#include <optional>
#include <string>

#include "headlight/base/random.h"
#include "headlight/cli/bench/bench_report.h"
#include "headlight/cli/program/commands.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/protein/alignment_features.h"

namespace headlight::bench_fold {
namespace {

struct Options {
  std::string model;
  std::int64_t residues = 256;
  std::optional<std::int64_t> rows, extra;
  std::optional<int> recycles;
  std::int32_t repetitions = 3;
  std::optional<Compute> compute;
  std::uint64_t seed = 1;
  bool json = false;
};

// Returns an alignment of distinct random rows. The values do not change the run time.
AlignmentTable RandomTable(std::int64_t residues, std::int64_t rows, Random& random) {
  AlignmentTable table;
  for (std::int64_t row = 0; row < rows; ++row) {
    AlignmentTable::Row& added = table.rows.emplace_back();
    for (std::int64_t i = 0; i < residues; ++i) added.residues.push_back(static_cast<std::uint8_t>(random.Below(20)));
  }
  table.profile.assign(static_cast<std::size_t>(residues * kAlignmentLetters), 1.0F / kAlignmentLetters);
  return table;
}

FoldingFeatures RandomFeatures(const Options& options, const AlignmentSampling& sampling, Random& random) {
  const AlignmentTable table = RandomTable(options.residues, sampling.rows + sampling.extra, random);
  return FeaturesForModel(FeaturesOf(table, DrawChoices(table, sampling, random)));
}

void Run(const Options& options) {
  const std::unique_ptr<const FoldingModel> model = Loaded([&] {
    return LoadModel<FoldingModel>(options.model, {.compute = options.compute, .purpose = LoadFor::computing});
  });
  const FoldingPlan plan = model->plan();
  const AlignmentSampling sampling = {.rows = options.rows.value_or(std::max<std::int64_t>(plan.rows, 1)),
                                      .extra = options.extra.value_or(plan.extra)};
  const int passes = 1 + options.recycles.value_or(plan.recycles);
  BenchResult result;
  result.unit = "per chain";
  result.tokens = "residues";
  result.settings = {{"benchmark", "fold"},
                     {"model", options.model},
                     {"parameters", model->parameters().count()},
                     {"residues", options.residues},
                     {"rows", sampling.rows},
                     {"extra_rows", sampling.extra},
                     {"passes", passes}};
  result.compute = model->parameters().all().front().compute;
  Random random(options.seed);
  MeasureBatches(
      result, options.repetitions, [&] { return RandomFeatures(options, sampling, random); },
      [&](const FoldingFeatures& features) {
        Context context;
        FoldingOutputs outputs;
        for (int pass = 0; pass < passes; ++pass)
          outputs = model->Pass(context, features, pass == 0 ? nullptr : &outputs);
        return outputs.lddt;
      },
      [&](const FoldingFeatures&, const Tensor&) { result.counted_tokens += options.residues; });
  PrintBench(result, options.json);
}

}  // namespace

void Add(Command& bench) {
  const auto [command, options] = NewCommand(bench, "fold", "Measure how fast a model folds a random chain", Run);
  command.Add("MODEL", options.model, "Folder of the model, or an .npz file of AlphaFold 2")
      .Required()
      .Model(NotEmpty());
  command.Add("--residues", options.residues, Between(1, 1 << 15), "Residues of the chain").ShowDefault();
  command.Add("--rows", options.rows, Between(1, 1 << 20), "Rows of its alignment [the model's, 512]");
  command.Add("--extra-rows", options.extra, Between(0, 1 << 20), "Further rows [the model's, 1024 or 5120]");
  command.Add("--recycles", options.recycles, Between(0, 1000), "Passes after the first [the model's, 3]");
  AddComputeOption(command, options.compute);
  command.Add("--repetitions", options.repetitions, AtLeast(1), "Chains to measure, after one to warm up")
      .ShowDefault();
  command.Add("--seed", options.seed, Seed(), "Random seed of the chains").ShowDefault();
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nOnly the model is measured, without reading an alignment and sampling its rows.\n\n"
      "Example:\n"
      "  headlight bench fold params_model_3_ptm.npz --residues 256 --rows 128 --compute bfloat16 --threads 2";
}

}  // namespace headlight::bench_fold
