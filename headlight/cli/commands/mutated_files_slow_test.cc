// Mutates every kind of file that the program reads. The program must end with exit code 0 and without NaN, or with a
// one-line error that names a file. The program must not exceed limits of time and memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "headlight/cli/commands/mutated_files_testing.h"

namespace headlight::mutated_files_slow_test {
namespace {

using file_kinds::Kind;

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = file_kinds::AllKinds();
  return kinds;
}

struct MutatedFiles : testing::TestWithParam<std::size_t> {};

TEST_P(MutatedFiles, AreReadOrRefused) {
  const Kind& kind = Kinds()[GetParam()];
  file_kinds::Sample sample(kind);
  const Outcome valid = sample.Run();
  ASSERT_EQ(valid.exit_code, 0) << kind.name << ": " << valid.err;
  constexpr double kMutations = 300;
  const auto count = static_cast<std::uint64_t>(std::lround(kMutations * kind.share));
  int refused = 0, complaints = 0;
  for (std::uint64_t number = 0; number < count && complaints < 5; ++number) {
    const std::string mutated = sample.Mutated(number);
    const Outcome outcome = sample.RunOn(mutated);
    refused += outcome.exit_code == 2 ? 1 : 0;
    const std::string complaint = sample.Complaint(outcome);
    if (complaint.empty()) continue;
    ++complaints;
    const std::string kept = testing::TempDir() + fmt::format("headlight-mutated-{}-{}", GetParam(), number);
    WriteFile(kept, mutated);
    ADD_FAILURE() << kind.name << ", mutation " << number << ", kept in " << kept << ": " << complaint << "\n"
                  << outcome.out.substr(0, 300) << outcome.err.substr(0, 600);
  }
  EXPECT_GT(refused, 0) << kind.name << ": no mutation reaches a check";
}

std::string NameOf(const testing::TestParamInfo<std::size_t>& info) {
  std::string name = fmt::format("{:03}_", info.index) + Kinds()[info.param].name;
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != ' '; });
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, MutatedFiles, testing::Range(std::size_t{0}, Kinds().size()), NameOf);

}  // namespace
}  // namespace headlight::mutated_files_slow_test
