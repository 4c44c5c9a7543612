#include <gtest/gtest.h>
#include <sys/resource.h>

#include "headlight/base/random.h"
#include "headlight/train/learn_shortlist.h"

namespace headlight::learn_shortlist_slow_test {
namespace {

TEST(LearnShortlist, StopsReadingAtTheMemoryLimit) {
  constexpr std::int64_t words = 20'000;
  Random random(1);
  const auto sentence = [&](std::vector<std::int32_t>& ids) {
    ids.resize(256);
    for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random.Below(words));
  };
  const auto endless = [&](EncodedPair& pair) {
    sentence(pair.source);
    sentence(pair.target);
    return true;
  };
  const LearnedShortlist learned = LearnShortlist(endless, words, words, {});
  EXPECT_FALSE(learned.all);
  EXPECT_GT(learned.pairs, (1 << 25) / (256 * 256) - 1);
#if !defined(__SANITIZE_ADDRESS__)
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 1 << 20) << "kilobytes";
#endif
}

}  // namespace
}  // namespace headlight::learn_shortlist_slow_test
