#include "headlight/generate/decode.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/generate/beam_search.h"
#include "headlight/generate/draft.h"
#include "headlight/generate/output_words.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

// A sentence that is being translated.
struct Search : BeamSearch {
  std::size_t sentence = 0;
};

class Decoding {
 public:
  Decoding(const EncoderDecoder& model, const DecodingOptions& options)
      : model_(model),
        options_(options),
        prefix_(options.prefix.empty() ? std::vector{model.limits().start_id} : options.prefix) {
    rules_ = {options.beam_size,
              options.length_penalty,
              {model.limits().end_id},
              options.stopping,
              static_cast<std::int32_t>(prefix_.size()) - 1};
    const std::int64_t positions = model.limits().positions;
    Check(options.beam_size >= 1 && options.beam_size <= 1024, "the beam size must be from 1 to 1024, not {}",
          options.beam_size);
    Check(options.n_best >= 1 && options.n_best <= options.beam_size,
          "the number of best translations must be from 1 to the beam size {}, not {}", options.beam_size,
          options.n_best);
    Check(std::isfinite(options.length_penalty), "the length penalty must be a finite number");
    Check(options.max_length >= 0 && options.max_length <= positions,
          "the longest translation must be from 1 to the model's {} positions, not {}", positions, options.max_length);
    Check(options.min_length >= 0, "the shortest translation must have at least 0 tokens, not {}", options.min_length);
    Check(options.no_repeat_ngram_size >= 0, "the size of n-grams must be at least 0, not {}",
          options.no_repeat_ngram_size);
    const std::int64_t words = model.limits().target_vocabulary;
    for (const std::int32_t id : prefix_)
      Check(id >= 0 && id < words, "a prefix has the token {}, of a vocabulary of {}", id, words);
    Check(!options.first_token || (*options.first_token >= 0 && *options.first_token < words),
          "the first token is {}, of a vocabulary of {}", options.first_token.value_or(0), words);
    const std::int64_t longest = options.max_length != 0 ? options.max_length : positions;
    Check(std::ssize(prefix_) <= longest, "a prefix of {} tokens does not fit into {}", prefix_.size(), longest);
  }

  std::vector<std::vector<Hypothesis>> Run(std::span<const std::int32_t> source_ids, const Sequences& sources) {
    for (const Sequence& source : sources)
      Check(source.length >= 1 && source.length <= model_.limits().positions,
            "a source sentence must have from 1 to {} tokens, not {}", model_.limits().positions, source.length);
    std::vector<std::vector<Hypothesis>> results(sources.size());
    if (sources.empty()) return results;
    std::vector<Search> searches(sources.size());
    for (std::size_t i = 0; i < searches.size(); ++i) {
      searches[i].sentence = i;
      searches[i].max_length = MaxLength(sources[i].length);
      searches[i].beams = {{{prefix_.begin() + 1, prefix_.end()}, 0}};
    }

    Context context;
    DecoderCache cache;
    const Memory memory{model_.Encode(context, source_ids, sources), sources};
    const OutputWords output(model_, context, options_.shortlist, source_ids, sources);
    context.cache = &cache;
    if (options_.attention) {
      context.last_cross_attention = true;
      context.sink = [&](const LayerAttention& seen) {
        if (!context.draft) attention_.push_back(RowsOf(seen.weights));
      };
    }
    const auto first = static_cast<std::int32_t>(prefix_.size());
    const bool may_draft =
        model_.parameters().have_draft() && options_.beam_size == 1 && options_.no_repeat_ngram_size == 0;
    for (std::int32_t length = first; !searches.empty();) {
      if (options_.cancelled && options_.cancelled()) throw Cancelled();
      if (may_draft && length > first && searches.size() == 1) {
        length += DraftedStep(context, memory, output, searches.front(), length);
      } else {
        Step(context, memory, output, searches, length);
        ++length;
      }
      for (Search& search : searches)
        if (search.done) results[search.sentence] = std::move(search.finished);
      std::erase_if(searches, [](const Search& search) { return search.done; });
    }
    for (auto& hypotheses : results) hypotheses.resize(std::min(hypotheses.size(), std::size_t(options_.n_best)));
    return results;
  }

 private:
  void CheckScores(const kernels::TopLogits<float>& likeliest, std::int32_t length) const {
    if (std::ranges::any_of(likeliest.values, [](float value) { return std::isnan(value); }))
      model_.parameters().FailNotFinite(fmt::format("decoding step {}", length));
  }

  // Of weights [1, heads, query, key], a row for each query.
  static std::vector<AttentionRow> RowsOf(const Tensor& weights) {
    const std::int64_t heads = weights.shape()[1], queries = weights.shape()[2], keys = weights.shape()[3];
    std::vector<AttentionRow> rows;
    for (std::int64_t query = 0; query < queries; ++query) {
      std::vector<float> sums(static_cast<std::size_t>(keys));
      for (std::int64_t head = 0; head < heads; ++head)
        for (std::int64_t key = 0; key < keys; ++key)
          sums[static_cast<std::size_t>(key)] += weights.matrix<float>().row(head * queries + query)[key];
      rows.push_back(std::make_shared<const std::vector<float>>(std::move(sums)));
    }
    return rows;
  }

  std::int32_t MaxLength(std::int32_t source_length) const {
    if (options_.max_length != 0) return options_.max_length;
    const std::int64_t before = options_.min_length + rules_.given;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(3 * std::int64_t{source_length} + 50 + before, model_.limits().positions));
  }

  // Extends every running beam by its `length`-th token.
  void Step(Context& context, const Memory& memory, const OutputWords& output, std::vector<Search>& searches,
            std::int32_t length) {
    const bool first = length == std::ssize(prefix_);
    std::vector<std::int32_t> last_words, last_rows;
    std::vector<std::size_t> sentences;
    std::vector<std::vector<std::int32_t>> repeating;
    std::size_t most_repeating = 0;
    for (const Search& search : searches)
      for (const Beam& beam : search.beams) {
        if (first)
          last_words.insert(last_words.end(), prefix_.begin(), prefix_.end());
        else
          last_words.push_back(beam.ids.back());
        last_rows.push_back(static_cast<std::int32_t>(last_words.size()) - 1);
        sentences.push_back(search.sentence);
        if (options_.no_repeat_ngram_size == 0) continue;
        std::vector<std::int32_t> inputs = {prefix_.front()};
        inputs.insert(inputs.end(), beam.ids.begin(), beam.ids.end());
        repeating.push_back(Repeating(inputs, options_.no_repeat_ngram_size));
        most_repeating = std::max(most_repeating, repeating.back().size());
      }
    const std::vector<std::int32_t> counts(sentences.size(), first ? static_cast<std::int32_t>(prefix_.size()) : 1);
    attention_.clear();
    Tensor hidden = model_.Decode(context, last_words, PackedSequences(counts), memory);
    for (auto rows = attention_.begin(); Search & search : searches)
      for (Beam& beam : search.beams)
        if (options_.attention) beam.attention.insert(beam.attention.end(), rows->begin(), rows->end()), ++rows;
    if (last_words.size() > last_rows.size()) hidden = ops::Embedding(hidden, last_rows);
    kernels::TopLogits<float> likeliest =
        output.Likeliest(context, hidden, sentences, length > options_.min_length,
                         rules_.candidates() + static_cast<std::int64_t>(most_repeating));
    CheckScores(likeliest, length);
    if (length == 1 && options_.first_token) {
      likeliest = {likeliest.rows, 1};
      std::ranges::fill(likeliest.columns, *options_.first_token);
      std::ranges::fill(likeliest.values, 0.0F);
    }

    std::vector<std::int32_t> continued;  // which of the cache's hypotheses each new beam continues
    std::int64_t row = 0;
    for (Search& search : searches) {
      const auto rows = static_cast<std::int64_t>(search.beams.size());
      for (const std::size_t beam : Advance(search, likeliest, row, length, rules_, repeating))
        continued.push_back(static_cast<std::int32_t>(row + static_cast<std::int64_t>(beam)));
      row += rows;
    }
    context.cache->Select(continued);
  }

  // Extends the only sentence left by its `length`-th token and the accepted drafts after it; returns how many.
  std::int32_t DraftedStep(Context& context, const Memory& memory, const OutputWords& output, Search& search,
                           std::int32_t length) {
    const auto read = [&](std::span<const std::int32_t> words) {
      attention_.clear();
      const Tensor hidden = model_.Decode(context, words, {{0, static_cast<std::int32_t>(words.size())}}, memory);
      kernels::TopLogits<float> likeliest =
          output.Likeliest(context, hidden, std::vector(words.size(), search.sentence), length > options_.min_length,
                           rules_.candidates());
      CheckScores(likeliest, length);
      return likeliest;
    };
    const auto written = [&](std::int32_t its_length, std::vector<std::size_t>&) {
      if (!options_.attention) return;
      auto& rows = search.done ? search.finished.front().attention : search.beams.front().attention;
      rows.push_back(attention_.front()[static_cast<std::size_t>(its_length - length)]);
    };
    return WriteDrafted(context, search, length, UntilRulesChange(search, length, options_.min_length), rules_, read,
                        written);
  }

  const EncoderDecoder& model_;
  const DecodingOptions& options_;
  const std::vector<std::int32_t> prefix_;  // the decoder's first inputs
  BeamRules rules_;
  std::vector<std::vector<AttentionRow>> attention_;  // of the last pass, by beam and query
};

}  // namespace

std::vector<std::vector<Hypothesis>> Decode(const EncoderDecoder& model, std::span<const std::int32_t> source_ids,
                                            const Sequences& sources, const DecodingOptions& options) {
  // With enough rows, threads divide the sentences instead of every operation, without waiting for one another: 128
  // sentences took an eighth less time, with beams of 4 a sixth, 32 sentences the same.
  constexpr std::int64_t fewest_rows = 32;  // of a thread
  const auto count = static_cast<std::int64_t>(sources.size());
  const std::int64_t threads = Threads();
  if (threads == 1 || count < threads || count * options.beam_size < threads * fewest_rows)
    return Decoding(model, options).Run(source_ids, sources);

  std::mutex asking;
  DecodingOptions shared = options;
  if (options.cancelled)
    shared.cancelled = [&] {
      const std::lock_guard lock(asking);
      return options.cancelled();
    };
  std::vector<std::vector<Hypothesis>> results(sources.size());
  ParallelFor(threads, [&](std::int64_t thread) {
    // Strided, since neighbours are of similar length.
    std::vector<std::int32_t> ids, lengths;
    for (std::int64_t i = thread; i < count; i += threads) {
      const Sequence& source = sources[static_cast<std::size_t>(i)];
      lengths.push_back(source.length);
      const auto its_ids =
          source_ids.subspan(static_cast<std::size_t>(source.begin), static_cast<std::size_t>(source.length));
      ids.insert(ids.end(), its_ids.begin(), its_ids.end());
    }
    auto hypotheses = Decoding(model, shared).Run(ids, PackedSequences(lengths));
    for (std::size_t i = 0; i < hypotheses.size(); ++i)
      results[static_cast<std::size_t>(thread) + i * static_cast<std::size_t>(threads)] = std::move(hypotheses[i]);
  });
  return results;
}

}  // namespace headlight
