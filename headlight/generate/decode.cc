#include "headlight/generate/decode.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/generate/beam_search.h"
#include "headlight/generate/output_words.h"
#include "headlight/nn/decoder_cache.h"

namespace headlight {
namespace {

// A sentence that is being translated.
struct Search : BeamSearch {
  std::size_t sentence = 0;
};

class Decoding {
 public:
  Decoding(const EncoderDecoder& model, const DecodingOptions& options) : model_(model), options_(options) {
    rules_ = {options.beam_size, options.length_penalty, {model.limits().end_id}};
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
    }

    Context context;
    DecoderCache cache;
    const Memory memory{model_.Encode(context, source_ids, sources), sources};
    const OutputWords output(model_, context, options_.shortlist, source_ids, sources);
    context.cache = &cache;
    for (std::int32_t length = 1; !searches.empty(); ++length) {
      if (options_.cancelled && options_.cancelled()) throw Cancelled();
      Step(context, memory, output, searches, length);
      for (Search& search : searches)
        if (search.done) results[search.sentence] = std::move(search.finished);
      std::erase_if(searches, [](const Search& search) { return search.done; });
    }
    for (auto& hypotheses : results) hypotheses.resize(std::min(hypotheses.size(), std::size_t(options_.n_best)));
    return results;
  }

 private:
  std::int32_t MaxLength(std::int32_t source_length) const {
    if (options_.max_length != 0) return options_.max_length;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(3 * std::int64_t{source_length} + 50, model_.limits().positions));
  }

  // Gives every running beam its next word, the sentence's `length`-th.
  void Step(Context& context, const Memory& memory, const OutputWords& output, std::vector<Search>& searches,
            std::int32_t length) const {
    std::vector<std::int32_t> last_words;
    std::vector<std::size_t> sentences;
    for (const Search& search : searches)
      for (const Beam& beam : search.beams) {
        last_words.push_back(beam.ids.empty() ? model_.limits().start_id : beam.ids.back());
        sentences.push_back(search.sentence);
      }
    const std::vector<std::int32_t> ones(last_words.size(), 1);
    const Tensor hidden = model_.Decode(context, last_words, PackedSequences(ones), memory);
    const kernels::TopLogits<float> likeliest =
        output.Likeliest(context, hidden, sentences, length > options_.min_length, rules_.candidates());

    std::vector<std::int32_t> continued;  // which of the cache's hypotheses each new beam continues
    std::int64_t row = 0;
    for (Search& search : searches) {
      const auto rows = static_cast<std::int64_t>(search.beams.size());
      for (const std::size_t beam : Advance(search, likeliest, row, length, rules_))
        continued.push_back(static_cast<std::int32_t>(row + static_cast<std::int64_t>(beam)));
      row += rows;
    }
    context.cache->Select(continued);
  }

  const EncoderDecoder& model_;
  const DecodingOptions& options_;
  BeamRules rules_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> Decode(const EncoderDecoder& model, std::span<const std::int32_t> source_ids,
                                            const Sequences& sources, const DecodingOptions& options) {
  // With enough rows, threads share out the sentences instead of every operation, and none waits for another: 128
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
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(threads));
  ParallelFor(threads, [&](std::int64_t thread) {
    try {
      // Every so many-th, since neighbours are of similar length.
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
    } catch (...) {
      errors[static_cast<std::size_t>(thread)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return results;
}

}  // namespace headlight
