// headlight bench kernels: measures each kernel's share of the peak rates of the processor and its memory.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/bench/bench_report.h"
#include "headlight/cli/bench/kernel_cases.h"
#include "headlight/cli/program/commands.h"
#include "headlight/kernels/cpu.h"
#include "headlight/kernels/peak.h"

namespace headlight::bench_kernels {
namespace {

// The instruction sets that kernels::LimitCpu accepts.
const std::vector<std::string> kTargets = {"avx2", "avx-vnni", "avx512"};

struct Options {
  std::optional<std::size_t> target;  // index into kTargets
  double seconds = 0.1;
  bool quick = false, json = false;
};

void Run(const Options& options) {
  if (options.target) kernels::LimitCpu(kTargets[*options.target]);
  constexpr std::array computes = {Compute::float32, Compute::bfloat16, Compute::int8, Compute::int4, Compute::blocks};
  std::array<kernels::Peak, computes.size()> peaks;
  for (const Compute compute : computes) peaks[static_cast<std::size_t>(compute)] = kernels::MeasurePeak(compute);

  Json::Array kernels_json;
  if (!options.json) {
    WriteResult(fmt::format("{}, {} threads\n", Processor(), Threads()));
    WriteResult(fmt::format("{:28} {:31} {:12} {:>16} {:>10} {:>6}\n", "kernel", "shape", "instructions", "rate",
                            "limit", "share"));
  }
  Progress progress("kernels");
  const std::vector<KernelCase> cases = KernelCases(options.quick);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const KernelCase& one = cases[i];
    const kernels::Peak& peak = peaks[static_cast<std::size_t>(one.compute)];
    const bool arithmetic = one.limit == KernelLimit::arithmetic;
    const KernelRuns runs = one.prepare();
    runs.run();
    // The bandwidth of a shared machine changes, so the runs of the kernel and of the limit alternate. With --quick,
    // the limit is not measured, because small shapes only show the overhead of calls.
    const int rounds = arithmetic || options.quick ? 1 : 5;
    double rate = 0, limit = arithmetic ? peak.operations : 0;
    for (int round = 0; round < rounds; ++round) {
      const double seconds = options.quick ? 0 : options.seconds / rounds;
      rate = std::max(rate, one.amount / kernels::FastestRun(seconds, runs.run));
      if (!arithmetic && !options.quick) limit = std::max(limit, one.amount / kernels::FastestRun(seconds, runs.bare));
    }
    const char* const unit = arithmetic ? "GFLOP/s" : "GB/s";
    if (options.json)
      kernels_json.push_back(Json::Object{{"kernel", one.kernel},
                                          {"shape", one.shape},
                                          {"instructions", peak.instructions},
                                          {"unit", unit},
                                          {"rate", Rounded(rate / 1e9)},
                                          {"limit", limit > 0 ? Json(Rounded(limit / 1e9)) : Json()},
                                          {"share", limit > 0 ? Json(Rounded(rate / limit)) : Json()}});
    else
      WriteResult(fmt::format("{:28} {:31} {:12} {:8.1f} {:7} {:>10} {:>6}\n", one.kernel, one.shape, peak.instructions,
                              rate / 1e9, unit, limit > 0 ? fmt::format("{:.1f}", limit / 1e9) : "-",
                              limit > 0 ? fmt::format("{:.0f}%", 100 * rate / limit) : "-"));
    progress.Show(static_cast<std::int64_t>(i) + 1, std::ssize(cases));
  }
  if (options.json)
    WriteResult(Json(Json::Object{{"benchmark", "kernels"},
                                  {"processor", Processor()},
                                  {"threads", Threads()},
                                  {"kernels", kernels_json}})
                    .Line() +
                "\n");
}

}  // namespace

void Add(Command& bench) {
  const auto [command, options] =
      NewCommand(bench, "kernels", "Measure each kernel's share of the limit of this processor", Run);
  command.AddChoice(
      "--target", kTargets, std::nullopt, [&target = options.target](std::size_t index) { target = index; },
      "The newest instruction set to use, as HEADLIGHT_CPU [the newest that the processor has]");
  command.Add("--seconds", options.seconds, NumberFrom(0, 60), "Time to repeat each kernel; the fastest run counts")
      .ShowDefault();
  command.Add("--quick", options.quick,
              "Run each kernel briefly on small shapes, whose shares have no meaning or are left out");
  command.Add("--json", options.json, "Print one JSON object");
  command.footer =
      "\nThe limit of a product is the peak of its instructions, measured in registers. That of a kernel over rows, of "
      "GEMV\n"
      "and of the top logits is the bandwidth of a loop that reads and writes the same memory, measured in "
      "alternation.\n"
      "Two operations are counted for each multiplication with its addition, also of integers.\n\n"
      "Examples:\n"
      "  headlight bench kernels --threads 2\n"
      "  headlight bench kernels --target avx2 --json";
}

}  // namespace headlight::bench_kernels
