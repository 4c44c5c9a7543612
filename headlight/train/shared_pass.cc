#include "headlight/train/shared_pass.h"

#include <algorithm>

#include "headlight/generate/hypothesis.h"

namespace headlight {

std::vector<std::string> SharedPass(Ranks* ranks, const std::function<std::string(int part, int parts)>& body) {
  if (ranks == nullptr) return {body(0, 1)};
  std::string own(1, '-');  // cancelled; else + and what was found
  try {
    const std::string found = body(ranks->rank(), ranks->size());
    own.front() = '+';
    own.append(found);
  } catch (const Cancelled&) {
  }
  std::vector<std::string> all = GatherToAll(*ranks, own);
  for (std::string& found : all) {
    if (found.front() == '-') throw Cancelled();
    found.erase(0, 1);
  }
  return all;
}

std::vector<std::vector<double>> SharedBlocks(
    const PassWatch& watch, std::int64_t examples, std::int64_t at_once,
    const std::function<std::vector<double>(std::int64_t begin, std::int64_t end)>& numbers_of) {
  const std::int64_t count = (examples + at_once - 1) / at_once;
  // Each block's numbers after how many they are.
  const auto found = SharedPass(watch.ranks, [&](int part, int parts) {
    std::vector<double> own;
    for (std::int64_t block = part; block < count; block += parts) {
      if (watch.cancelled && watch.cancelled()) throw Cancelled();
      const std::int64_t begin = block * at_once, end = std::min(examples, begin + at_once);
      const std::vector<double> numbers = numbers_of(begin, end);
      own.push_back(static_cast<double>(numbers.size()));
      own.insert(own.end(), numbers.begin(), numbers.end());
      if (watch.progress) watch.progress(end, examples);
    }
    return std::string(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double));
  });
  std::vector<std::vector<double>> blocks(static_cast<std::size_t>(count));
  for (std::size_t part = 0; part < found.size(); ++part) {
    const std::vector<double> numbers = NumbersOf<double>(found[part]);
    auto at = numbers.begin();
    for (std::size_t block = part; block < blocks.size(); block += found.size()) {
      const auto length = static_cast<std::ptrdiff_t>(*at++);
      blocks[block].assign(at, at + length);
      at += length;
    }
  }
  return blocks;
}

}  // namespace headlight
