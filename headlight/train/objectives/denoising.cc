#include "headlight/train/objectives/denoising.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headlight {
namespace {

using Ids = std::vector<std::int32_t>;

void Shuffle(std::vector<std::size_t>& items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.Below(left)]);
}

// Samples a Poisson distribution with Knuth's algorithm.
std::size_t Poisson(double mean, Random& random) {
  const double limit = std::exp(-mean);
  std::size_t count = 0;
  for (double product = random.Uniform(); product > limit; product *= random.Uniform()) ++count;
  return count;
}

// Returns the positions at which sentences begin, followed by the text's length. Consecutive full stops end only one
// sentence.
std::vector<std::size_t> SentenceBegins(std::span<const std::int32_t> text, const Ids& ends) {
  std::vector<std::size_t> begins = {0};
  for (std::size_t i = 1; i < text.size(); ++i)
    if (std::ranges::binary_search(ends, text[i - 1]) && !std::ranges::binary_search(ends, text[i]))
      begins.push_back(i);
  begins.push_back(text.size());
  return begins;
}

Ids PermuteSentences(std::span<const std::int32_t> text, const Ids& ends, Random& random) {
  const std::vector<std::size_t> begins = SentenceBegins(text, ends);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) order.push_back(i);
  Shuffle(order, random);
  Ids permuted;
  for (const std::size_t sentence : order) {
    const auto words = text.subspan(begins[sentence], begins[sentence + 1] - begins[sentence]);
    permuted.insert(permuted.end(), words.begin(), words.end());
  }
  return permuted;
}

}  // namespace

Ids AddNoise(std::span<const std::int32_t> text, const NoiseOptions& noise, Random& random) {
  const Ids permuted = PermuteSentences(text, noise.sentence_ends, random);
  const std::size_t hidden = HiddenTokens(text.size(), noise.share);
  std::vector<std::size_t> lengths;
  for (std::size_t left = hidden; left > 0; left -= lengths.back())
    lengths.push_back(std::min(left, Poisson(noise.mean_length, random)));
  while (lengths.size() > hidden) lengths.erase(std::ranges::find(lengths, 0u));
  Shuffle(lengths, random);  // before the shuffle, the last span is never empty
  const std::vector<std::size_t> between = Divide(text.size() - hidden, lengths.size(), random);
  Ids noised;
  auto next = permuted.begin();
  for (std::size_t i = 0; i < between.size(); ++i) {
    const auto kept = static_cast<std::ptrdiff_t>(between[i]);
    noised.insert(noised.end(), next, next + kept);
    next += kept;
    if (i == lengths.size()) break;
    noised.push_back(noise.mask_id);
    next += static_cast<std::ptrdiff_t>(lengths[i]);
  }
  return noised;
}

TrainingTask DenoisingTask(EncoderDecoder& model, const TextSets& texts, const AroundTexts& around,
                           const NoiseOptions& noise, const TeacherForcingOptions& options) {
  CheckHiding(noise.share, noise.mean_length);
  const auto longest = [around](std::size_t tokens) {
    return tokens + around.before.size() + std::max<std::size_t>(1, around.after.size());
  };
  const auto make = [around, noise](std::span<const std::int32_t> text, Random& random) {
    return SequenceExample{Surrounded(around, AddNoise(text, noise, random)), Surrounded({around.before, {}}, text)};
  };
  return CorruptionTask(model, texts, {longest, make}, options);
}

}  // namespace headlight
