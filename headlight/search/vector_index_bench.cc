// Measures a query in an index of a million vectors of 512 elements. For comparison, measures reading the same number
// of bytes from memory with the same number of threads. The 2 GB index is built in the folder for temporary files.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "headlight/base/parallel.h"
#include "headlight/search/vector_index.h"

namespace headlight {
namespace {

constexpr std::int64_t kVectors = 1'000'000, kDimension = 512;

std::vector<float> RandomVector(std::uint64_t& state) {
  std::vector<float> vector(kDimension);
  for (float& number : vector) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    number = static_cast<float>(static_cast<std::int32_t>(state >> 32));
  }
  return vector;
}

struct BenchIndex {
  BenchIndex() {
    std::filesystem::remove_all(folder);
    IndexBuilder builder(folder, {.folder = "none", .fingerprint = "none", .dimension = kDimension});
    std::uint64_t state = 1;
    for (std::int64_t i = 0; i < kVectors; ++i) builder.Add({.name = std::to_string(i)}, RandomVector(state));
    builder.Flush();
  }
  ~BenchIndex() { std::filesystem::remove_all(folder); }

  const std::string folder = std::filesystem::temp_directory_path() / "headlight_bench.index";
};

void SearchAMillion(benchmark::State& bench) {
  static const BenchIndex made;
  const VectorIndex index = VectorIndex::Open(made.folder);
  std::uint64_t state = 7;
  const std::vector<float> query = RandomVector(state);
  index.Search(query, 10);  // reads the files into memory
  for (auto _ : bench) benchmark::DoNotOptimize(index.Search(query, 10).data());
  bench.SetBytesProcessed(bench.iterations() * kVectors * kDimension * std::int64_t{sizeof(float)});
}
BENCHMARK(SearchAMillion)->UseRealTime()->Unit(benchmark::kMillisecond)->MinTime(2);

void ReadAsManyBytes(benchmark::State& bench) {
  const std::vector<std::uint64_t> words(static_cast<std::size_t>(kVectors * kDimension / 2), 1);
  constexpr std::int64_t chunks = 1000;
  for (auto _ : bench) {
    std::atomic<std::uint64_t> sum = 0;
    ParallelFor(chunks, [&](std::int64_t chunk) {
      const auto each = static_cast<std::ptrdiff_t>(words.size()) / chunks;
      std::uint64_t own = 0;
      for (const std::uint64_t* word = words.data() + chunk * each; word < words.data() + (chunk + 1) * each; ++word)
        own += *word;
      sum += own;
    });
    benchmark::DoNotOptimize(sum.load());
  }
  bench.SetBytesProcessed(bench.iterations() * kVectors * kDimension * std::int64_t{sizeof(float)});
}
BENCHMARK(ReadAsManyBytes)->UseRealTime()->Unit(benchmark::kMillisecond)->MinTime(2);

}  // namespace
}  // namespace headlight

BENCHMARK_MAIN();
