#include "headlight/generate/decode.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/generate/decoding_batch.h"
#include "headlight/ops/embedding.h"

namespace headlight {
namespace {

// Creates and runs requests for a model's decoder.
class Decoding {
 public:
  Decoding(const ConditionalDecoder& model, const DecodingOptions& options)
      : model_(model),
        options_(options),
        prefix_(options.prefix.empty() ? std::vector{model.limits().start_id} : options.prefix) {
    SearchOptions search = options.search;
    if (search.end_ids.empty()) search.end_ids = {model.limits().end_id};
    CheckSearch(search, model.limits().target_vocabulary);
    forced_ = std::make_shared<const SearchOptions>(search);
    search.first_token.reset();
    search_ = options.search.first_token ? std::make_shared<const SearchOptions>(search) : forced_;
    const std::int64_t positions = model.limits().positions;
    Check(options.max_length >= 0 && options.max_length <= positions,
          "`max_length` must be from 1 to the model's {} positions, not {}", positions, options.max_length);
    const std::int64_t longest = options.max_length != 0 ? options.max_length : positions;
    Check(options.min_length >= 0 && options.min_length <= longest, "`min_length` must be from 0 to {}, {}, not {}",
          options.max_length != 0 ? "`max_length`" : "the model's positions", longest, options.min_length);
    Check(options.max_new_tokens >= 0 && options.min_new_tokens >= 0,
          "`max_new_tokens` and `min_new_tokens` must be at least 0, not {} and {}", options.max_new_tokens,
          options.min_new_tokens);
    CheckTokens(prefix_);
    Check(std::ssize(prefix_) <= longest, "a prefix of {} tokens does not fit into {}", prefix_.size(), longest);
    for (const DecodingOptions::Source& source : options.sources) {
      CheckTokens(source.target_prefix);
      Check(std::ssize(InputsFor(source)) <= longest,
            "a target prefix of {} tokens leaves no space in a translation of at most {}", source.target_prefix.size(),
            longest);
    }
  }

  // Returns the request for source `index`, without memory and ids.
  DecodingRequest RequestFor(std::int32_t source_length, std::size_t index) const {
    const DecodingOptions::Source source =
        options_.sources.empty() ? DecodingOptions::Source{{}, index} : options_.sources.at(index);
    DecodingRequest request{.prompt = InputsFor(source)};
    const auto given = static_cast<std::int32_t>(request.prompt.size()) - 1;
    request.options = given == 0 ? forced_ : search_;
    request.max_new_tokens = MaxLength(source_length, given) - given;
    request.min_new_tokens = std::max(options_.min_length - given, options_.min_new_tokens);
    request.seed = options_.seed;
    request.stream = source.stream;
    return request;
  }

  // Runs one request per entry of a memory. `which` maps each entry to its index in options.sources. `source_ids` has
  // the ids of each entry, for a shortlist and for logits processors. Entries with the same rows of the memory use the
  // same keys and values.
  std::vector<std::vector<Hypothesis>> Run(const Memory& memory, std::span<const std::size_t> which,
                                           std::span<const std::int32_t> source_ids = {}) const {
    DecodingBatch batch(model_, {.pass_tokens = kPassTokens}, options_.shortlist);
    std::vector<std::vector<std::int32_t>> prompts;
    std::map<std::array<std::int32_t, 3>, Tensor> states;  // encoder states by begin, length and step
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Sequence& entry = memory.sequences[i];
      DecodingRequest request = RequestFor(entry.length, which[i]);
      prompts.push_back(request.prompt);
      Tensor& own = states[{entry.begin, entry.length, entry.step}];
      if (own.empty()) {
        std::vector<std::int32_t> rows;
        for (std::int32_t row = 0; row < entry.length; ++row) rows.push_back(entry.row(row));
        own = entry.step == 1 ? memory.rows.ViewRows(entry.begin, entry.length) : ops::Embedding(memory.rows, rows);
      }
      request.memory = own;
      if (!source_ids.empty()) {
        const auto ids =
            source_ids.subspan(static_cast<std::size_t>(entry.begin), static_cast<std::size_t>(entry.length));
        request.source.assign(ids.begin(), ids.end());
      }
      batch.Add(std::move(request));
    }
    std::vector<std::vector<Hypothesis>> results(which.size());
    while (!batch.empty()) {
      if (options_.cancelled && options_.cancelled()) throw Cancelled();
      for (Decoded& text : batch.Step()) {
        if (text.error != nullptr) std::rethrow_exception(text.error);
        const auto index = static_cast<std::size_t>(text.id);
        AddGiven(text.hypotheses, prompts[index]);
        results[index] = std::move(text.hypotheses);
      }
    }
    return results;
  }

 private:
  static constexpr std::int64_t kPassTokens = 4096;  // large, because all texts of a call begin at the same time

  void CheckTokens(std::span<const std::int32_t> ids) const {
    const std::int64_t vocabulary = model_.limits().target_vocabulary;
    for (const std::int32_t id : ids)
      Check(id >= 0 && id < vocabulary, "the token {} is outside the vocabulary of {}", id, vocabulary);
  }

  std::vector<std::int32_t> InputsFor(const DecodingOptions::Source& source) const {
    std::vector<std::int32_t> inputs = prefix_;
    if (source.target_prefix.empty()) return inputs;
    if (options_.search.first_token && prefix_.size() == 1) inputs.push_back(*options_.search.first_token);
    inputs.insert(inputs.end(), source.target_prefix.begin(), source.target_prefix.end());
    return inputs;
  }

  // Returns the maximum length of a target sentence, including the given tokens.
  std::int32_t MaxLength(std::int32_t source_length, std::int32_t given) const {
    if (options_.max_new_tokens != 0)
      return static_cast<std::int32_t>(
          std::min<std::int64_t>(std::int64_t{given} + options_.max_new_tokens, model_.limits().positions));
    if (options_.max_length != 0) return options_.max_length;
    const std::int64_t before = std::max(options_.min_length, options_.min_new_tokens) + given;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(3 * std::int64_t{source_length} + 50 + before, model_.limits().positions));
  }

  const ConditionalDecoder& model_;
  const DecodingOptions& options_;
  const std::vector<std::int32_t> prefix_;  // the decoder's first inputs
  // `forced_` may force the first token, and is used for texts without given tokens. `search_` is used for other texts.
  std::shared_ptr<const SearchOptions> forced_, search_;
};

void CheckLength(const EncoderDecoder& model, std::int64_t length) {
  Check(length >= 1 && length <= model.limits().positions, "a source sentence must have from 1 to {} tokens, not {}",
        model.limits().positions, length);
}

// Calls `run` once for all sources, or on several threads with a subset of the sources each.
using RunSources = std::function<std::vector<std::vector<Hypothesis>>(std::span<const std::size_t> sources,
                                                                      const DecodingOptions& options)>;
std::vector<std::vector<Hypothesis>> OnThreads(std::size_t count, const DecodingOptions& options,
                                               const RunSources& run) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  // If there are enough rows, each thread decodes a subset of the sentences. This is faster than dividing every
  // operation, because threads do not wait for each other.
  constexpr std::int64_t fewest_rows = 32;  // minimum number of rows per thread
  const std::int64_t threads = Threads(), rows = static_cast<std::int64_t>(count) * options.search.beam_size;
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
    // Sentences are assigned to the n threads in turn, because adjacent sentences have similar lengths.
    std::vector<std::size_t> own;
    for (auto i = static_cast<std::size_t>(thread); i < count; i += static_cast<std::size_t>(threads)) own.push_back(i);
    auto hypotheses = run(own, shared);
    for (std::size_t i = 0; i < own.size(); ++i) results[own[i]] = std::move(hypotheses[i]);
  });
  return results;
}

// Returns `which`, or the indices 0 to sources - 1 if `which` is empty.
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

}  // namespace

std::vector<DecodingRequest> RequestsFor(const EncoderDecoder& model, std::vector<std::vector<std::int32_t>> sources,
                                         const DecodingOptions& options) {
  const Decoding decoding(model, options);
  std::vector<DecodingRequest> requests;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    CheckLength(model, std::ssize(sources[i]));
    requests.push_back(decoding.RequestFor(static_cast<std::int32_t>(sources[i].size()), i));
    requests.back().source = std::move(sources[i]);
  }
  return requests;
}

void AddGiven(std::vector<Hypothesis>& hypotheses, std::span<const std::int32_t> prompt) {
  for (Hypothesis& hypothesis : hypotheses)
    hypothesis.ids.insert(hypothesis.ids.begin(), prompt.begin() + 1, prompt.end());
}

std::vector<std::vector<Hypothesis>> Decode(const EncoderDecoder& model, std::span<const std::int32_t> source_ids,
                                            const Sequences& sources, const DecodingOptions& options,
                                            std::span<const std::size_t> which) {
  const std::vector<std::size_t> indices = IndicesOf(which, sources.size());
  return OnThreads(sources.size(), options, [&](std::span<const std::size_t> some, const DecodingOptions& shared) {
    Decoding decoding(model, shared);
    std::vector<std::int32_t> ids, lengths;
    for (const std::size_t i : some) {
      const Sequence& source = sources[i];
      CheckLength(model, source.length);
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
  Ensure(options.shortlist == nullptr, "Decode: a shortlist needs a source text");
  const std::vector<std::size_t> indices = IndicesOf(which, memory.sequences.size());
  return OnThreads(memory.sequences.size(), options,
                   [&](std::span<const std::size_t> some, const DecodingOptions& shared) {
                     Decoding decoding(model, shared);
                     if (some.empty()) return std::vector<std::vector<Hypothesis>>();
                     Memory entries{memory.rows, {}};
                     for (const std::size_t i : some) entries.sequences.push_back(memory.sequences[i]);
                     return decoding.Run(entries, At(indices, some));
                   });
}

}  // namespace headlight
