#include "headlight/train/objectives/span_corruption.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// Returns the number of spans. It is limited so that no two spans are adjacent.
std::size_t SpansOf(std::size_t tokens, const SpanOptions& spans) {
  const std::size_t hidden = HiddenTokens(tokens, spans.share);
  const auto wanted = static_cast<std::size_t>(std::lround(static_cast<double>(hidden) / spans.mean_length));
  return std::clamp<std::size_t>(wanted, 1, std::min(hidden, tokens - hidden + 1));
}

}  // namespace

SequenceExample HideSpans(std::span<const std::int32_t> text, const SpanOptions& spans, Random& random) {
  const std::size_t hidden = HiddenTokens(text.size(), spans.share), count = SpansOf(text.size(), spans);
  Ensure(count < spans.sentinels.size(), "{} spans and an end, of {} sentinels", count, spans.sentinels.size());
  // Each span and each text between two spans has at least one token.
  const std::vector<std::size_t> lengths = Divide(hidden - count, count - 1, random),
                                 between = Divide(text.size() - hidden - (count - 1), count, random);
  SequenceExample pair;
  auto next = text.begin();
  const auto take = [&next](std::size_t tokens, std::vector<std::int32_t>& to) {
    to.insert(to.end(), next, next + static_cast<std::ptrdiff_t>(tokens));
    next += static_cast<std::ptrdiff_t>(tokens);
  };
  for (std::size_t i = 0; i < count; ++i) {
    take(between[i] + (i > 0 ? 1 : 0), pair.source);
    pair.source.push_back(spans.sentinels[i]);
    pair.target.push_back(spans.sentinels[i]);
    take(lengths[i] + 1, pair.target);
  }
  take(between[count], pair.source);
  pair.target.push_back(spans.sentinels[count]);
  return pair;
}

TrainingTask SpanCorruptionTask(EncoderDecoder& model, const TextSets& texts, const AroundTexts& around,
                                const SpanOptions& spans, const TeacherForcingOptions& options) {
  CheckHiding(spans.share, spans.mean_length);
  const auto longest = [around, spans](std::size_t tokens) {
    const std::size_t hidden = HiddenTokens(tokens, spans.share), count = SpansOf(tokens, spans);
    Check(count < spans.sentinels.size(),
          "a text of {} tokens needs {} sentinels for its spans and one for the end; the tokenizer has "
          "{}: use shorter texts (`positions`), longer spans or more sentinels",
          tokens, count, spans.sentinels.size());
    return std::max(tokens - hidden + count + around.before.size() + around.after.size(), hidden + count + 2);
  };
  const auto make = [around, spans](std::span<const std::int32_t> text, Random& random) {
    SequenceExample pair = HideSpans(text, spans, random);
    pair.source = Surrounded(around, pair.source);
    return pair;
  };
  return CorruptionTask(model, texts, {longest, make}, options);
}

}  // namespace headlight
