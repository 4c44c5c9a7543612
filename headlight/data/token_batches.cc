#include "headlight/data/token_batches.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

std::int32_t Size(const std::vector<std::int32_t>& rows) {
  Ensure(rows.size() <= std::numeric_limits<std::int32_t>::max(), "a batch has {} rows", rows.size());
  return static_cast<std::int32_t>(rows.size());
}

void Append(std::vector<std::int32_t>& to, std::span<const std::int32_t> ids) {
  to.insert(to.end(), ids.begin(), ids.end());
}

std::span<const std::int32_t> RowsOf(const std::vector<std::int32_t>& rows, const Sequence& sequence) {
  return std::span(rows).subspan(static_cast<std::size_t>(sequence.begin), static_cast<std::size_t>(sequence.length));
}

}  // namespace

void AppendRows(std::vector<std::int32_t>& rows, Sequences& sequences, std::span<const std::int32_t> ids) {
  const std::int32_t begin = Size(rows);
  Append(rows, ids);
  sequences.push_back({begin, Size(rows) - begin});
}

void AppendPair(std::span<const std::int32_t> source, std::span<const std::int32_t> target, std::int32_t start_id,
                std::int32_t end_id, TokenBatch& batch) {
  AppendRows(batch.source_ids, batch.source, source);
  batch.target_inputs.push_back(start_id);
  Append(batch.target_inputs, target);
  AppendRows(batch.labels, batch.target, target);
  batch.labels.push_back(end_id);
  ++batch.target.back().length;
}

std::vector<TokenBatch> SplitBatch(const TokenBatch& batch, std::int64_t tokens) {
  const bool decodes = !batch.target_inputs.empty();
  const std::int64_t sources = Size(batch.source_ids);
  const std::int64_t rows = decodes ? std::max<std::int64_t>(Size(batch.labels), sources / 2) : sources;
  const std::int64_t parts = std::max<std::int64_t>(1, (rows + tokens - 1) / tokens);
  if (parts == 1) return {batch};
  // A source token needs about half of the computation of a target token, since the decoder has larger layers and the
  // output projection.
  const std::int64_t of_target = decodes ? 2 : 0;
  const std::int64_t total = sources + of_target * Size(batch.labels);
  std::vector<TokenBatch> split;
  std::int64_t before = 0, last = -1;
  for (std::size_t text = 0; text < batch.target.size(); ++text) {
    const Sequence& target = batch.target[text];
    const std::int64_t cost =
        of_target * target.length + (batch.source.empty() ? 0 : std::int64_t{batch.source[text].length});
    // Selects the micro-batch that contains the text's middle, so that each boundary is within half a text of its ideal
    // position.
    if (const std::int64_t index = (2 * before + cost) * parts / (2 * total); index != last) {
      split.emplace_back();
      last = index;
    }
    before += cost;
    TokenBatch& part = split.back();
    if (!batch.source.empty()) {
      const Sequence& source = batch.source[text];
      if (!batch.source_types.empty()) Append(part.source_types, RowsOf(batch.source_types, source));
      AppendRows(part.source_ids, part.source, RowsOf(batch.source_ids, source));
    }
    if (decodes) Append(part.target_inputs, RowsOf(batch.target_inputs, target));
    AppendRows(part.labels, part.target, RowsOf(batch.labels, target));
  }
  return split;
}

TokenBatch Twice(const TokenBatch& batch) {
  TokenBatch twice = batch;
  twice.twice = true;
  Append(twice.source_ids, batch.source_ids);
  Append(twice.source_types, batch.source_types);
  Append(twice.target_inputs, batch.target_inputs);
  const auto repeat = [](Sequences& sequences, std::int32_t rows) {
    const std::size_t texts = sequences.size();
    for (std::size_t text = 0; text < texts; ++text) {
      Sequence again = sequences[text];
      again.begin += rows;
      sequences.push_back(again);
    }
  };
  repeat(twice.source, Size(batch.source_ids));
  repeat(twice.target, Size(batch.target_inputs));
  return twice;
}

std::int64_t LabelCount(const TokenBatch& batch) {
  return std::ranges::count_if(batch.labels, [](std::int32_t label) { return label >= 0; });
}

TokenBatch PackBatch(const TokenExamples& examples, const BatchPlan& plan, std::uint64_t seed) {
  TokenBatch batch;
  for (const std::uint32_t example : plan.examples) {
    Random random = RandomOfExample(seed, plan.position.epoch, example);
    examples.append(example, random, batch);
  }
  return batch;
}

TokenExamples PairsOf(const Corpus& corpus, const PairOptions& options) {
  Ensure(!options.sample || corpus.options().keep_text, "to be encoded again, the corpus must keep its text");
  return {.size = corpus.size(),
          .length =
              [&corpus](std::int64_t pair) {
                const Corpus::Ids ids = corpus.IdsOf(pair);
                return ExampleLength{std::ssize(ids.target) + 1, std::ssize(ids.source) + 1};
              },
          .append =
              [&corpus, options](std::int64_t pair, Random& random, TokenBatch& batch) {
                const Corpus::Ids ids = corpus.IdsOf(pair);
                std::vector<std::int32_t> source(ids.source.begin(), ids.source.end());
                std::vector<std::int32_t> target(ids.target.begin(), ids.target.end());
                if (options.sample) {
                  const Corpus::Text text = corpus.TextOf(pair);
                  const auto longest = static_cast<std::size_t>(corpus.options().max_tokens) - 1;
                  const auto sample = [&](std::string_view side_text, Side side, std::vector<std::int32_t>& side_ids) {
                    std::vector<std::int32_t> sampled = options.sample(side_text, side, random);
                    if (!sampled.empty() && sampled.size() <= longest) side_ids = std::move(sampled);
                  };
                  sample(text.source, Side::source, source);
                  sample(text.target, Side::target, target);
                }
                source.push_back(options.eos_id);
                AppendPair(source, target, options.start_id, options.eos_id, batch);
              }};
}

}  // namespace headlight
