#include "headlight/generate/decode.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/generate/beam_search.h"
#include "headlight/generate/choose_words.h"
#include "headlight/generate/draft.h"
#include "headlight/generate/output_words.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

// A sentence that is being translated.
struct Search : BeamSearch {
  std::size_t sentence = 0;
  std::vector<std::int32_t> inputs;      // the decoder's first: the start and what is given of the translation
  std::span<const std::int32_t> source;  // the encoder's input, if it is tokens
  Random random{0};
  bool cut = false;  // the length limit forced an end on a beam that would go on

  std::int32_t given() const { return static_cast<std::int32_t>(inputs.size()) - 1; }
};

class Decoding {
 public:
  Decoding(const ConditionalDecoder& model, const DecodingOptions& options)
      : model_(model),
        options_(options),
        prefix_(options.prefix.empty() ? std::vector{model.limits().start_id} : options.prefix) {
    rules_ = {options.beam_size, options.length_penalty,
              options.end_ids.empty() ? std::vector{model.limits().end_id} : options.end_ids, options.stopping,
              options.token_scores};
    LogitsProcessors other = options.processors;
    other.no_repeat_ngram_size = 0;  // which Step applies without the logits
    changes_scores_ = options.sample || other.any();
    const std::int64_t positions = model.limits().positions;
    Check(options.beam_size >= 1 && options.beam_size <= 1024, "beam_size must be from 1 to 1024, not {}",
          options.beam_size);
    Check(options.n_best >= 1 && options.n_best <= options.beam_size, "n_best must be from 1 to beam_size, {}, not {}",
          options.beam_size, options.n_best);
    Check(std::isfinite(options.length_penalty), "length_penalty must be a finite number, not {}",
          options.length_penalty);
    Check(options.max_length >= 0 && options.max_length <= positions,
          "max_length must be from 1 to the model's {} positions, not {}", positions, options.max_length);
    const std::int64_t longest = options.max_length != 0 ? options.max_length : positions;
    Check(options.min_length >= 0 && options.min_length <= longest, "min_length must be from 0 to {}, {}, not {}",
          options.max_length != 0 ? "max_length" : "the model's positions", longest, options.min_length);
    Check(options.max_new_tokens >= 0 && options.min_new_tokens >= 0,
          "max_new_tokens and min_new_tokens must be at least 0, not {} and {}", options.max_new_tokens,
          options.min_new_tokens);
    CheckRules(RulesOf(options), model.limits().target_vocabulary);
    CheckTokens(rules_.end_ids);
    CheckTokens(prefix_);
    if (options.first_token) CheckTokens({&*options.first_token, 1});
    Check(std::ssize(prefix_) <= longest, "a prefix of {} tokens does not fit into {}", prefix_.size(), longest);
    for (const DecodingOptions::Source& source : options.sources) {
      CheckTokens(source.target_prefix);
      Check(std::ssize(InputsFor(source)) <= longest,
            "a target prefix of {} tokens leaves no room in a longest translation of {}", source.target_prefix.size(),
            longest);
    }
  }

  // `which`: the index of each sentence in options.sources. `source_ids`, of the memory's entries, are for a shortlist
  // and for logits processors.
  std::vector<std::vector<Hypothesis>> Run(const Memory& memory, std::span<const std::size_t> which,
                                           std::span<const std::int32_t> source_ids = {}) {
    const Sequences& sources = memory.sentences;
    std::vector<std::vector<Hypothesis>> results(sources.size());
    std::vector<Search> searches(sources.size());
    for (std::size_t i = 0; i < searches.size(); ++i) {
      Search& search = searches[i];
      const DecodingOptions::Source source =
          options_.sources.empty() ? DecodingOptions::Source{{}, which[i]} : options_.sources.at(which[i]);
      search.sentence = i;
      search.inputs = InputsFor(source);
      if (!source_ids.empty())
        search.source =
            source_ids.subspan(static_cast<std::size_t>(sources[i].begin), static_cast<std::size_t>(sources[i].length));
      search.max_length = MaxLength(sources[i].length, search.given()) - search.given();
      search.beams = {{{search.inputs.begin() + 1, search.inputs.end()}, 0}};
      search.random = Random(options_.seed, source.stream);
    }

    Context context;
    DecoderCache cache;
    const OutputWords output(model_, context, options_.shortlist, source_ids, sources);
    context.cache = &cache;
    if (options_.attention) {
      context.last_cross_attention = true;
      context.sink = [&](const LayerAttention& seen) {
        if (!context.draft) attention_.push_back(RowsOf(seen.weights));
      };
    }
    const bool may_draft = model_.parameters().have_draft() && options_.beam_size == 1 && RulesOf(options_).plain();
    for (std::int32_t length = 1; !searches.empty();) {
      if (options_.cancelled && options_.cancelled()) throw Cancelled();
      if (may_draft && length > 1 && searches.size() == 1 && length <= LastUnforced(searches.front())) {
        length += DraftedStep(context, memory, output, searches.front(), length);
      } else {
        Step(context, memory, output, searches, length);
        ++length;
      }
      for (Search& search : searches)
        if (search.done) {
          for (Hypothesis& hypothesis : search.finished)
            if (search.cut && std::ssize(hypothesis.ids) + 1 == search.max_length + search.given())
              hypothesis.ended = false;
          results[search.sentence] = std::move(search.finished);
        }
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

  void CheckTokens(std::span<const std::int32_t> ids) const {
    const std::int64_t words = model_.limits().target_vocabulary;
    for (const std::int32_t id : ids)
      Check(id >= 0 && id < words, "the token {} is outside the vocabulary of {}", id, words);
  }

  std::vector<std::int32_t> InputsFor(const DecodingOptions::Source& source) const {
    std::vector<std::int32_t> inputs = prefix_;
    if (source.target_prefix.empty()) return inputs;
    if (options_.first_token && prefix_.size() == 1) inputs.push_back(*options_.first_token);
    inputs.insert(inputs.end(), source.target_prefix.begin(), source.target_prefix.end());
    return inputs;
  }

  // Tokens to choose before which the end is not a candidate.
  std::int32_t Shortest(const Search& search) const {
    return std::max(options_.min_length - search.given(), options_.min_new_tokens);
  }

  // The last token to choose that is not forced to be the end.
  std::int32_t LastUnforced(const Search& search) const { return search.max_length - (options_.force_end ? 1 : 0); }

  // True if the `length`-th generated token may be the end token.
  bool MayEnd(const Search& search, std::int32_t length) const {
    return length > Shortest(search) || (options_.force_end && length == search.max_length);
  }

  // With the tokens that are given.
  std::int32_t MaxLength(std::int32_t source_length, std::int32_t given) const {
    if (options_.max_new_tokens != 0)
      return static_cast<std::int32_t>(
          std::min<std::int64_t>(std::int64_t{given} + options_.max_new_tokens, model_.limits().positions));
    if (options_.max_length != 0) return options_.max_length;
    const std::int64_t before = std::max(options_.min_length, options_.min_new_tokens) + given;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(3 * std::int64_t{source_length} + 50 + before, model_.limits().positions));
  }

  // Extends every running beam by its `length`-th chosen token.
  void Step(Context& context, const Memory& memory, const OutputWords& output, std::vector<Search>& searches,
            std::int32_t length) {
    const bool first = length == 1;
    const auto may_end = [&](const Search& search) { return MayEnd(search, length); };
    const bool all_may_end = std::ranges::all_of(searches, may_end),
               any_may_end = std::ranges::any_of(searches, may_end);
    std::vector<std::int32_t> last_words, last_rows, counts;
    std::vector<std::size_t> sentences;
    std::vector<std::vector<std::int32_t>> banned;  // of each beam; empty where none has any
    std::size_t most_banned = 0;
    for (const Search& search : searches)
      for (const Beam& beam : search.beams) {
        if (first)
          last_words.insert(last_words.end(), search.inputs.begin(), search.inputs.end());
        else
          last_words.push_back(beam.ids.back());
        last_rows.push_back(static_cast<std::int32_t>(last_words.size()) - 1);
        counts.push_back(first ? static_cast<std::int32_t>(search.inputs.size()) : 1);
        sentences.push_back(search.sentence);
        const std::int32_t no_repeat = options_.processors.no_repeat_ngram_size;
        if (changes_scores_ || (no_repeat == 0 && all_may_end == any_may_end)) continue;
        std::vector<std::int32_t> inputs = {prefix_.front()};
        inputs.insert(inputs.end(), beam.ids.begin(), beam.ids.end());
        banned.push_back(Repeating(inputs, inputs, no_repeat));
        if (!may_end(search)) banned.back().insert(banned.back().end(), rules_.end_ids.begin(), rules_.end_ids.end());
        most_banned = std::max(most_banned, banned.back().size());
      }
    attention_.clear();
    Tensor hidden = model_.Decode(context, last_words, PackedSequences(counts), memory);
    for (auto rows = attention_.begin(); Search & search : searches)
      for (Beam& beam : search.beams)
        if (options_.attention) beam.attention.insert(beam.attention.end(), rows->begin(), rows->end()), ++rows;
    if (last_words.size() > last_rows.size()) hidden = ops::Embedding(hidden, last_rows);
    kernels::TopLogits<float> likeliest =
        changes_scores_ ? Chosen(context, hidden, output, searches, sentences, length)
                        : output.Likeliest(context, hidden, sentences,
                                           any_may_end ? std::span<const std::int32_t>() : rules_.end_ids,
                                           rules_.candidates() + static_cast<std::int64_t>(most_banned));
    CheckScores(likeliest, length);
    if (first && options_.first_token) ForceFirst(likeliest, searches);
    if (options_.force_end) ForceEnds(likeliest, searches, length);

    std::vector<std::int32_t> continued;  // which of the cache's hypotheses each new beam continues
    std::int64_t row = 0;
    for (Search& search : searches) {
      const auto rows = static_cast<std::int64_t>(search.beams.size());
      for (const std::size_t beam : Advance(search, likeliest, row, length, rules_, banned))
        continued.push_back(static_cast<std::int32_t>(row + static_cast<std::int64_t>(beam)));
      row += rows;
    }
    context.cache->Select(continued);
  }

  // The likeliest tokens, or sampled ones, after each beam's hidden state under the logits processors.
  kernels::TopLogits<float> Chosen(Context& context, const Tensor& hidden, const OutputWords& output,
                                   std::vector<Search>& searches, std::span<const std::size_t> sentences,
                                   std::int32_t length) const {
    std::vector<std::int32_t> pad, pad_and_ends = rules_.end_ids;
    if (model_.limits().pad_id >= 0)
      for (std::vector<std::int32_t>* never : {&pad, &pad_and_ends}) never->push_back(model_.limits().pad_id);
    std::vector<Unfinished> texts;
    for (Search& search : searches)
      for (const Beam& beam : search.beams) {
        Unfinished& text = texts.emplace_back();
        text.prompt = std::span(prefix_).first(1);
        text.ids = beam.ids;
        text.never = MayEnd(search, length) ? pad : pad_and_ends;
        text.ends = rules_.end_ids;
        text.source = search.source;
        text.given = std::ssize(search.inputs);
        text.begin = text.given + (text.given == 1 && options_.first_token ? 1 : 0);
        text.random = &search.random;
      }
    return output.Choose(context, hidden, sentences, texts, RulesOf(options_), length, rules_.candidates());
  }

  // The first token of every sentence that nothing is given of becomes options.first_token, with probability 1.
  void ForceFirst(kernels::TopLogits<float>& likeliest, std::span<const Search> searches) const {
    for (std::size_t i = 0; i < searches.size(); ++i)  // each has one beam
      if (searches[i].given() == 0) Force(likeliest, i, *options_.first_token);
  }

  // The token of a sentence that may have no more becomes the end, with probability 1.
  void ForceEnds(kernels::TopLogits<float>& likeliest, std::span<Search> searches, std::int32_t length) const {
    for (std::size_t row = 0; Search & search : searches)
      for (std::size_t beam = 0; beam < search.beams.size(); ++beam, ++row)
        if (length == search.max_length) {
          const auto likeliest_token = likeliest.columns[row * static_cast<std::size_t>(likeliest.k)];
          search.cut = search.cut || std::ranges::find(rules_.end_ids, likeliest_token) == rules_.end_ids.end();
          Force(likeliest, row, rules_.end_ids.front());
        }
  }

  static void Force(kernels::TopLogits<float>& likeliest, std::size_t row, std::int32_t token) {
    const auto k = static_cast<std::size_t>(likeliest.k);
    std::fill_n(likeliest.values.begin() + static_cast<std::ptrdiff_t>(row * k), k,
                -std::numeric_limits<float>::infinity());
    likeliest.values[row * k] = 0;
    likeliest.columns[row * k] = token;
  }

  // Extends the only sentence left by its `length`-th chosen token and the accepted drafts after it; returns how many.
  std::int32_t DraftedStep(Context& context, const Memory& memory, const OutputWords& output, Search& search,
                           std::int32_t length) {
    const auto read = [&](std::span<const std::int32_t> words) {
      attention_.clear();
      const Tensor hidden = model_.Decode(context, words, {{0, static_cast<std::int32_t>(words.size())}}, memory);
      kernels::TopLogits<float> likeliest = output.Likeliest(
          context, hidden, std::vector(words.size(), search.sentence),
          MayEnd(search, length) ? std::span<const std::int32_t>() : rules_.end_ids, rules_.candidates());
      CheckScores(likeliest, length);
      return likeliest;
    };
    const auto written = [&](std::int32_t its_length, std::vector<std::size_t>&) {
      if (!options_.attention) return;
      auto& rows = search.done ? search.finished.front().attention : search.beams.front().attention;
      rows.push_back(attention_.front()[static_cast<std::size_t>(its_length - length)]);
    };
    const std::int32_t until = std::min(UntilRulesChange(search, length, Shortest(search)), LastUnforced(search));
    return WriteDrafted(context, search, length, until, rules_, read, written);
  }

  const ConditionalDecoder& model_;
  const DecodingOptions& options_;
  const std::vector<std::int32_t> prefix_;  // the decoder's first inputs
  BeamRules rules_;
  bool changes_scores_ = false;                       // the choice is among other scores than the model's own
  std::vector<std::vector<AttentionRow>> attention_;  // of the last pass, by beam and query
};

// Runs `run` for all sources, or on several threads for a part of them each: for these of them, with these options.
using RunSources = std::function<std::vector<std::vector<Hypothesis>>(std::span<const std::size_t> sources,
                                                                      const DecodingOptions& options)>;
std::vector<std::vector<Hypothesis>> OnThreads(std::size_t count, const DecodingOptions& options,
                                               const RunSources& run) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  // With enough rows, threads divide the sentences instead of every operation, without waiting for one another: 128
  // sentences took an eighth less time, with beams of 4 a sixth, 32 sentences the same.
  constexpr std::int64_t fewest_rows = 32;  // of a thread
  const std::int64_t threads = Threads(), rows = static_cast<std::int64_t>(count) * options.beam_size;
  if (threads == 1 || std::cmp_less(count, threads) || rows < threads * fewest_rows) return run(all, options);

  std::mutex asking;
  DecodingOptions shared = options;
  if (options.cancelled)
    shared.cancelled = [&] {
      const std::lock_guard lock(asking);
      return options.cancelled();
    };
  std::vector<std::vector<Hypothesis>> results(count);
  ParallelFor(threads, [&](std::int64_t thread) {
    // Strided, since neighbours are of similar length.
    std::vector<std::size_t> own;
    for (auto i = static_cast<std::size_t>(thread); i < count; i += static_cast<std::size_t>(threads)) own.push_back(i);
    auto hypotheses = run(own, shared);
    for (std::size_t i = 0; i < own.size(); ++i) results[own[i]] = std::move(hypotheses[i]);
  });
  return results;
}

// The entries of `which`, or the place of each of so many sources.
std::vector<std::size_t> IndicesOf(std::span<const std::size_t> which, std::size_t sources) {
  std::vector<std::size_t> indices(which.begin(), which.end());
  if (which.empty()) {
    indices.resize(sources);
    std::iota(indices.begin(), indices.end(), std::size_t{0});
  }
  Ensure(indices.size() == sources, "Decode: {} indices of {} sources", indices.size(), sources);
  return indices;
}

std::vector<std::size_t> At(const std::vector<std::size_t>& which, std::span<const std::size_t> sources) {
  std::vector<std::size_t> some;
  for (const std::size_t source : sources) some.push_back(which[source]);
  return some;
}

// Some entries of a memory, with the rows that they name. Entries that share rows, as samples do, share them here, too,
// and with them their keys and values.
Memory EntriesOf(const Memory& memory, std::span<const std::size_t> which) {
  Memory some;
  std::map<std::array<std::int32_t, 3>, std::int32_t> begins;  // by begin, length and step
  std::vector<std::int32_t> rows;
  for (const std::size_t i : which) {
    const Sequence& source = memory.sentences[i];
    const auto [known, is_new] =
        begins.emplace(std::array{source.begin, source.length, source.step}, static_cast<std::int32_t>(rows.size()));
    if (is_new)
      for (std::int32_t row = 0; row < source.length; ++row) rows.push_back(source.row(row));
    some.sentences.push_back({known->second, source.length});
  }
  std::vector<std::int32_t> all(static_cast<std::size_t>(memory.rows.rows()));
  std::iota(all.begin(), all.end(), 0);
  some.rows = rows == all ? memory.rows : ops::Embedding(memory.rows, rows);
  return some;
}

}  // namespace

std::vector<std::vector<Hypothesis>> Decode(const EncoderDecoder& model, std::span<const std::int32_t> source_ids,
                                            const Sequences& sources, const DecodingOptions& options,
                                            std::span<const std::size_t> which) {
  const std::vector<std::size_t> indices = IndicesOf(which, sources.size());
  return OnThreads(sources.size(), options, [&](std::span<const std::size_t> some, const DecodingOptions& shared) {
    Decoding decoding(model, shared);
    std::vector<std::int32_t> ids, lengths;
    for (const std::size_t i : some) {
      const Sequence& source = sources[i];
      Check(source.length >= 1 && source.length <= model.limits().positions,
            "a source sentence must have from 1 to {} tokens, not {}", model.limits().positions, source.length);
      lengths.push_back(source.length);
      const auto its_ids =
          source_ids.subspan(static_cast<std::size_t>(source.begin), static_cast<std::size_t>(source.length));
      ids.insert(ids.end(), its_ids.begin(), its_ids.end());
    }
    if (some.empty()) return std::vector<std::vector<Hypothesis>>();
    Context context;
    const Sequences packed = PackedSequences(lengths);
    return decoding.Run({model.Encode(context, ids, packed), packed}, At(indices, some), ids);
  });
}

std::vector<std::vector<Hypothesis>> Decode(const ConditionalDecoder& model, const Memory& memory,
                                            const DecodingOptions& options, std::span<const std::size_t> which) {
  Ensure(options.shortlist == nullptr, "Decode: a shortlist is of a source's tokens");
  const std::vector<std::size_t> indices = IndicesOf(which, memory.sentences.size());
  return OnThreads(memory.sentences.size(), options,
                   [&](std::span<const std::size_t> some, const DecodingOptions& shared) {
                     Decoding decoding(model, shared);
                     if (some.empty()) return std::vector<std::vector<Hypothesis>>();
                     return decoding.Run(EntriesOf(memory, some), At(indices, some));
                   });
}

}  // namespace headlight
