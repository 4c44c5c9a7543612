#include "headlight/train/sequence_tasks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/generate/batched.h"
#include "headlight/train/text_batches.h"

namespace headlight {
namespace {

using Ids = std::vector<std::int32_t>;

// Pairs that are made anew each time that they are asked for.
struct Maker {
  std::vector<Examples::Lengths> lengths;
  std::function<SequenceExample(std::size_t example, Random& random)> make;
};

void Append(const SequenceExample& pair, const EncoderDecoder::Limits& limits, Batch& batch) {
  Ids labels = pair.target;
  labels.push_back(limits.end_id);
  AppendRows(batch.source_ids, batch.source, pair.source);
  AppendRows(batch.labels, batch.target, labels);
  batch.target_inputs.push_back(limits.start_id);
  batch.target_inputs.insert(batch.target_inputs.end(), pair.target.begin(), pair.target.end());
}

class MadePairs : public Examples {
 public:
  MadePairs(Maker maker, const EncoderDecoder::Limits& limits) : maker_(std::move(maker)), limits_(limits) {}

  std::int64_t size() const override { return std::ssize(maker_.lengths); }
  Lengths LengthsOf(std::int64_t example) const override { return maker_.lengths[static_cast<std::size_t>(example)]; }
  void Append(std::int64_t example, Random& random, Batch& batch) const override {
    headlight::Append(maker_.make(static_cast<std::size_t>(example), random), limits_, batch);
  }

 private:
  Maker maker_;
  EncoderDecoder::Limits limits_;
};

// The loss of all pairs, in batches, the same ones at each call.
ValidationReport ValidateLoss(const EncoderDecoder& model, const Maker& maker) {
  constexpr std::size_t rows_at_once = 2048;
  const auto begin = std::chrono::steady_clock::now();
  double sum = 0;
  std::int64_t labels = 0;
  Batch batch;
  for (std::size_t i = 0; i < maker.lengths.size(); ++i) {
    Random random(1, i);
    Append(maker.make(i, random), model.limits(), batch);
    if (std::max(batch.source_ids.size(), batch.labels.size()) < rows_at_once && i + 1 < maker.lengths.size()) continue;
    Context context;
    sum += static_cast<double>(TeacherForcedLoss(model, context, batch, 0, 1).data<float>()[0]);
    labels += std::ssize(batch.labels);
    batch = {};
  }
  return LossReport(sum, labels, begin);
}

TrainingTask MadeTask(EncoderDecoder& model, const Maker& train, const TrainingOptions& options,
                      std::function<ValidationReport()> validate) {
  const auto examples = std::make_shared<MadePairs>(train, model.limits());
  return {.model = &model,
          .batches = [examples, &options](
                         const BatchPosition& position) { return BatchStream(examples, options.batches, position); },
          .loss =
              [&model, &options](Context& context, const Batch& batch, double scale) {
                return TeacherForcedLoss(model, context, batch, options.label_smoothing, scale);
              },
          .validate = std::move(validate)};
}

// The longer side counts, whichever it is: a summary's text, or what a span becomes.
Examples::Lengths LengthsOf(std::size_t source, std::size_t labels) {
  return {static_cast<std::int64_t>(std::max(source, labels)), static_cast<std::int64_t>(std::min(source, labels))};
}

Maker MakerOf(const EncoderDecoder& model, const std::vector<SequenceExample>& examples, const char* what) {
  Check(!examples.empty(), "there is no pair to {}", what);
  const auto longest = static_cast<std::size_t>(model.limits().positions);
  Maker maker;
  for (const SequenceExample& pair : examples) {
    const std::size_t labels = pair.target.size() + 1;
    for (const std::size_t length : {pair.source.size(), labels})
      Check(length >= 1 && length <= longest,
            "pair {} to {}: one of its texts has {} tokens, and must have from 1 to {}", maker.lengths.size() + 1, what,
            length, longest);
    maker.lengths.push_back(LengthsOf(pair.source.size(), labels));
  }
  maker.make = [&examples](std::size_t example, Random&) { return examples[example]; };
  return maker;
}

// Of texts that become pairs; `longest` is of what is read and what is written the longer one, of a text of such a
// length.
Maker MakerOf(const EncoderDecoder& model, const std::vector<TextExample>& texts, const char* what,
              const std::function<std::size_t(std::size_t text)>& longest,
              std::function<SequenceExample(const Ids& text, Random& random)> make) {
  Check(!texts.empty(), "there is no text to {}", what);
  Maker maker;
  for (const TextExample& text : texts) {
    Check(!text.ids.empty(), "text {} to {} has no tokens", maker.lengths.size() + 1, what);
    const std::size_t length = longest(text.ids.size());
    Check(
        std::cmp_less_equal(length, model.limits().positions),
        "text {} to {}: with what stands around it and for it, its {} tokens become {}, and the model reads and writes "
        "at most {}",
        maker.lengths.size() + 1, what, text.ids.size(), length, model.limits().positions);
    maker.lengths.push_back(LengthsOf(length, 0));
  }
  maker.make = [&texts, make = std::move(make)](std::size_t example, Random& random) {
    return make(texts[example].ids, random);
  };
  return maker;
}

void CheckHiding(double share, double mean_length) {
  Check(share > 0 && share < 1, "the share of hidden tokens must be between 0 and 1, not {}", share);
  Check(mean_length >= 1 && mean_length <= 100, "a span's mean length must be from 1 to 100, not {}", mean_length);
}

std::size_t HiddenTokens(std::size_t tokens, double share) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(share * static_cast<double>(tokens))));
}

// No span touches another: there are at most as many as that leaves room for.
std::size_t SpansOf(std::size_t tokens, const SpanOptions& spans) {
  const std::size_t hidden = HiddenTokens(tokens, spans.share);
  const auto wanted = static_cast<std::size_t>(std::lround(static_cast<double>(hidden) / spans.mean_length));
  return std::clamp<std::size_t>(wanted, 1, std::min(hidden, tokens - hidden + 1));
}

// A row of so many dividers and items; how many items stand before the first divider, between each two and behind the
// last. Every row is as likely.
std::vector<std::size_t> Divide(std::size_t items, std::size_t dividers, Random& random) {
  std::vector<std::size_t> parts(1);
  for (std::size_t left = items + dividers; left > 0; --left) {
    if (random.Below(left) < dividers) {
      parts.push_back(0);
      --dividers;
    } else {
      ++parts.back();
    }
  }
  return parts;
}

void Shuffle(std::vector<std::size_t>& items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.Below(left)]);
}

std::size_t Poisson(double mean, Random& random) {
  const double limit = std::exp(-mean);
  std::size_t count = 0;
  for (double product = random.Uniform(); product > limit; product *= random.Uniform()) ++count;
  return count;
}

// The places where a sentence begins, and the text's end. Full stops in a row end one sentence.
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

Ids Surrounded(const AroundTexts& around, const Ids& ids) {
  Ids all = around.before;
  all.insert(all.end(), ids.begin(), ids.end());
  all.insert(all.end(), around.after.begin(), around.after.end());
  return all;
}

}  // namespace

SequenceExample HideSpans(std::span<const std::int32_t> text, const SpanOptions& spans, Random& random) {
  const std::size_t hidden = HiddenTokens(text.size(), spans.share), count = SpansOf(text.size(), spans);
  Ensure(count < spans.sentinels.size(), "{} spans and an end, of {} sentinels", count, spans.sentinels.size());
  // Each span has one token at least, and so has what stands between two.
  const std::vector<std::size_t> lengths = Divide(hidden - count, count - 1, random),
                                 between = Divide(text.size() - hidden - (count - 1), count, random);
  SequenceExample pair;
  auto next = text.begin();
  const auto take = [&next](std::size_t tokens, Ids& to) {
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

std::vector<std::int32_t> AddNoise(std::span<const std::int32_t> text, const NoiseOptions& noise, Random& random) {
  const Ids permuted = PermuteSentences(text, noise.sentence_ends, random);
  const std::size_t hidden = HiddenTokens(text.size(), noise.share);
  std::vector<std::size_t> lengths;
  for (std::size_t left = hidden; left > 0; left -= lengths.back())
    lengths.push_back(std::min(left, Poisson(noise.mean_length, random)));
  while (lengths.size() > hidden) lengths.erase(std::ranges::find(lengths, 0u));
  Shuffle(lengths, random);  // the last drawn is never empty
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

TrainingTask SequenceTask(EncoderDecoder& model, const SequenceSets& sets, const TrainingOptions& options) {
  const Maker train = MakerOf(model, sets.train, "learn from"), valid = MakerOf(model, sets.valid, "validate on");
  Ensure(sets.valid_sources.size() == sets.valid.size() && sets.decode, "{} texts of {} pairs",
         sets.valid_sources.size(), sets.valid.size());
  return MadeTask(model, train, options, [&model, &sets, &options, valid] {
    const auto begin = std::chrono::steady_clock::now();
    ValidationReport report = ValidateLoss(model, valid);
    std::vector<Ids> sources;
    std::size_t longest = 0;
    for (const SequenceExample& pair : sets.valid) {
      sources.push_back(pair.source);
      longest = std::max(longest, pair.target.size() + 1);
    }
    // A model that has not yet learned to end goes round in circles: none gets longer than the longest target.
    DecodingOptions decoding = options.decoding;
    if (decoding.max_length == 0) decoding.max_length = static_cast<std::int32_t>(longest);
    const auto found = DecodeInBatches(model, sources, decoding, /*batch_tokens=*/1024);
    std::size_t right = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::string text = sets.decode(found[i].front().ids), target = sets.decode(sets.valid[i].target);
      right += text == target;
      if (i < 3) report.samples.push_back({sets.valid_sources[i], target, text});
    }
    report.score_name = "exact";
    report.score = 100.0 * static_cast<double>(right) / static_cast<double>(found.size());
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
  });
}

std::uint64_t HashOfSequences(const std::vector<SequenceExample>& examples) {
  std::uint64_t hash = 0;
  for (const SequenceExample& pair : examples)
    for (const Ids* ids : {&pair.source, &pair.target}) {
      const std::uint64_t parts[] = {
          hash, HashOf({reinterpret_cast<const char*>(ids->data()), ids->size() * sizeof(std::int32_t)})};
      hash = HashOf({reinterpret_cast<const char*>(parts), sizeof(parts)});
    }
  return hash;
}

TrainingTask SpanCorruptionTask(EncoderDecoder& model, const TextSets& texts, const AroundTexts& around,
                                const SpanOptions& spans, const TrainingOptions& options) {
  CheckHiding(spans.share, spans.mean_length);
  const auto longest = [around, spans](std::size_t tokens) {
    const std::size_t hidden = HiddenTokens(tokens, spans.share), count = SpansOf(tokens, spans);
    Check(count < spans.sentinels.size(),
          "a text of {} tokens has {} hidden spans, each with a sentinel, and one more at its end; the tokenizer has "
          "{}: shorter texts (--positions), longer spans or more sentinels are needed",
          tokens, count, spans.sentinels.size());
    return std::max(tokens - hidden + count + around.before.size() + around.after.size(), hidden + count + 2);
  };
  const auto make = [around, spans](const Ids& text, Random& random) {
    SequenceExample pair = HideSpans(text, spans, random);
    pair.source = Surrounded(around, pair.source);
    return pair;
  };
  const Maker train = MakerOf(model, texts.train, "learn from", longest, make),
              valid = MakerOf(model, texts.valid, "validate on", longest, make);
  return MadeTask(model, train, options, [&model, valid] { return ValidateLoss(model, valid); });
}

TrainingTask DenoisingTask(EncoderDecoder& model, const TextSets& texts, const AroundTexts& around,
                           const NoiseOptions& noise, const TrainingOptions& options) {
  CheckHiding(noise.share, noise.mean_length);
  const auto longest = [around](std::size_t tokens) {
    return tokens + around.before.size() + std::max<std::size_t>(1, around.after.size());
  };
  const auto make = [around, noise](const Ids& text, Random& random) {
    return SequenceExample{Surrounded(around, AddNoise(text, noise, random)), Surrounded({around.before, {}}, text)};
  };
  const Maker train = MakerOf(model, texts.train, "learn from", longest, make),
              valid = MakerOf(model, texts.valid, "validate on", longest, make);
  return MadeTask(model, train, options, [&model, valid] { return ValidateLoss(model, valid); });
}

}  // namespace headlight
