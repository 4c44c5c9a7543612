#include "headlight/generate/decoding_batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/beam_search.h"
#include "headlight/generate/choose_tokens.h"
#include "headlight/generate/next_tokens.h"
#include "headlight/generate/search.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/nn/decoder_cache.h"

namespace headlight {
namespace {

// Texts that begin with so many tokens of another that is being read wait for it, and then share them.
constexpr std::int32_t kWorthSharing = 16;

// Tokens that speculative decoding drafts before one pass of the weights verifies them.
constexpr std::int32_t kMostDrafts = 3;

// Sums weights [1, heads, query, key] over the heads: a row for each query.
std::vector<AttentionRow> RowsOf(const Tensor& weights) {
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

// The token of a row becomes this one, with probability 1.
void Force(kernels::TopLogits<float>& likeliest, std::size_t row, std::int32_t token) {
  const auto k = static_cast<std::size_t>(likeliest.k);
  std::fill_n(likeliest.values.begin() + static_cast<std::ptrdiff_t>(row * k), k,
              -std::numeric_limits<float>::infinity());
  likeliest.values[row * k] = 0;
  likeliest.columns[row * k] = token;
}

}  // namespace

struct DecodingBatch::State {
  State(const LanguageModel* of_language, const ConditionalDecoder* of_decoder, const DecodingBatchOptions& given,
        const Shortlist* shortlist)
      : language(of_language),
        decoder(of_decoder),
        batch_options(given),
        tokens(language != nullptr ? OutputOf(*language) : OutputOf(*decoder), shortlist),
        cache(given.cache_type) {
    Check(batch_options.pass_tokens >= 1, "`pass_tokens` must be at least 1, not {}", batch_options.pass_tokens);
    Check(batch_options.cached_tokens >= 0, "`cached_tokens` must be at least 0, not {}", batch_options.cached_tokens);
    vocabulary = language != nullptr ? language->limits().vocabulary : decoder->limits().target_vocabulary;
    positions = language != nullptr ? language->limits().positions : decoder->limits().positions;
    if (const auto* const drawing = dynamic_cast<const TextToImageModel*>(language)) {
      whole_prompts = drawing->drawing().encodes_text;
      if (!whole_prompts) alone_from = drawing->drawing().prompt;
    }
    context.cache = &cache;
    context.hooks.wanted = [this](const AttentionSource& source) {
      return source.kind == AttentionKind::cross && std::cmp_equal(source.layer + 1, cache.layers());
    };
  }
  State(const State&) = delete;

  const Parameters& parameters() const { return language != nullptr ? language->parameters() : decoder->parameters(); }

  void CheckNoCallback() const { Ensure(!in_step, "a callback must not call its batch"); }

  // Throws Error if the request is impossible.
  void CheckRequest(const DecodingRequest& request) const {
    Ensure(request.options != nullptr, "a request without options");
    const SearchOptions& options = *request.options;
    CheckSearch(options, tokens.vocabulary());
    const auto check_prompt = [&](const std::vector<std::int32_t>& prompt) {
      Check(!prompt.empty() && std::cmp_less_equal(prompt.size(), positions),
            "a prompt must have from 1 to {} tokens, not {}", positions, prompt.size());
      for (const std::int32_t id : prompt)
        Check(id >= 0 && id < vocabulary, "the token {} is outside the vocabulary of {}", id, vocabulary);
    };
    check_prompt(request.prompt);
    if (!request.unguided.empty()) check_prompt(request.unguided);
    Check(request.max_new_tokens >= 1, "`max_new_tokens` must be at least 1, not {}", request.max_new_tokens);
    Check(request.min_new_tokens >= 0, "`min_new_tokens` must be at least 0, not {}", request.min_new_tokens);
    Check(!request.on_token || options.beam_size == 1,
          "`on_token` is for a `beam_size` of 1: no token of a beam is final");
    Check(language == nullptr || language->logit_cap() == 0 || options.guidance == 1,
          "`guidance` is for models without a cap of their logits");
    Check(language == nullptr || !options.attention, "`attention` is that of a decoder to its encoder");
    Ensure((language == nullptr) != request.memory.empty(), "a memory is for a decoder with cross-attention");
    Check(request.memory.empty() || (request.memory.shape().rank() == 2 && request.memory.dtype() == DType::float32 &&
                                     request.memory.rows() >= 1),
          "a memory must be float32 states [tokens, model] of at least 1 token, not {} of shape {}",
          Name(request.memory.dtype()), ToString(request.memory.shape()));
    Ensure(!tokens.has_shortlist() || !request.source.empty(), "a shortlist is of a source's tokens");
    for (const std::int32_t id : request.source)
      Check(!tokens.has_shortlist() || (id >= 0 && id < decoder->limits().source_vocabulary),
            "the source's token {} is outside its vocabulary", id);
  }

  // The states that the cross-attention of a prompt looks at.
  const Tensor& StatesOf(const Search& search, std::size_t which) const {
    return which == 0 ? search.request.memory : search.no_source;
  }

  // The cached memory of a search with the same states, or -1.
  std::int32_t MemoryOf(const Search& search, std::size_t which) const {
    const Tensor& states = StatesOf(search, which);
    if (search.memory[which] >= 0 || decoder == nullptr) return search.memory[which];
    for (const auto& other : searches)
      for (std::size_t i = 0; i < other->prompts(); ++i)
        if (other->memory[i] >= 0 && StatesOf(*other, i).data<float>() == states.data<float>() &&
            StatesOf(*other, i).shape() == states.shape())
          return other->memory[i];
    return -1;
  }

  // The cached text that begins with the most tokens of a beam, and how many it has of them. `later`: how many some
  // text will have.
  struct Beginning {
    std::int32_t text = -1, tokens = 0, later = 0;
  };
  Beginning LongestBeginning(const Search& search, std::size_t beam, std::size_t which) const {
    Beginning best;
    // Attention needs the pass of every token whose rows it does not have.
    if (whole_prompts || (search.options().attention && search.length == 1)) return best;
    const std::int32_t memory = MemoryOf(search, which);
    for (const auto& other : searches) {
      if (other->damaged) continue;
      for (std::size_t i = 0; i < other->beams.size(); ++i)
        for (std::size_t j = 0; j < other->prompts(); ++j) {
          if (other->cached[i][j].text < 0 || other->memory[j] != memory) continue;
          const std::int32_t most = std::min(search.tokens(beam, which) - 1, other->tokens(i, j));
          // One token shows that most texts have no more in common than the best.
          if (most <= best.tokens || search.TokenAt(beam, which, best.tokens) != other->TokenAt(i, j, best.tokens))
            continue;
          std::int32_t common = 0;
          while (common < most && search.TokenAt(beam, which, common) == other->TokenAt(i, j, common)) ++common;
          best.later = std::max(best.later, common);
          const CachedBeam& cached = other->cached[i][j];
          if (std::min(common, cached.read) > best.tokens)
            best = {cached.text, std::min(common, cached.read), best.later};
        }
    }
    return best;
  }

  // Gives a search its texts in the cache, but those that should wait for a text that reads the same tokens.
  void Join(Search& search) {
    for (std::size_t beam = 0; beam < search.beams.size(); ++beam)
      for (std::size_t which = 0; which < search.prompts(); ++which) {
        if (search.cached[beam][which].text >= 0) continue;
        const Beginning known = LongestBeginning(search, beam, which);
        if (known.later >= known.tokens + kWorthSharing) continue;
        KeepMemory(search, which);
        search.cached[beam][which] = known.text < 0
                                         ? CachedBeam{cache.AddText(search.memory[which]), 0}
                                         : CachedBeam{cache.CopyText(known.text, known.tokens), known.tokens};
        search.joined = true;
      }
  }

  void KeepMemory(Search& search, std::size_t which) {
    std::int32_t& memory = search.memory[which];
    if (memory >= 0 || decoder == nullptr) return;
    memory = MemoryOf(search, which);
    if (memory < 0)
      memory = cache.AddMemory(StatesOf(search, which));
    else
      cache.ShareMemory(memory);
  }

  void LeaveCache(Search& search) {
    for (auto& beam : search.cached)
      for (CachedBeam& cached : beam) {
        if (cached.text >= 0) cache.RemoveText(cached.text);
        cached = {};
      }
    search.joined = false;
  }

  void Drop(Search& search) {
    LeaveCache(search);
    for (const std::int32_t memory : search.memory)
      if (memory >= 0) cache.RemoveMemory(memory);
    std::erase_if(searches, [&](const auto& one) { return one.get() == &search; });
  }

  void End(Search& search, std::exception_ptr error = nullptr) {
    Decoded result{search.id, {}, std::move(error)};
    if (result.error == nullptr) {
      result.hypotheses = std::move(search.finished);
      for (Hypothesis& hypothesis : result.hypotheses)
        if (search.cut && std::ssize(hypothesis.ids) + 1 == search.max_length) hypothesis.ended = false;
      result.hypotheses.resize(std::min(result.hypotheses.size(), static_cast<std::size_t>(search.options().n_best)));
    }
    ended.push_back(std::move(result));
    Drop(search);
  }

  // Lets waiting texts join, and drops the last from the cache if the pass would exceed it.
  Pass NextPass() {
    const auto joined = [&] { return std::ranges::count_if(searches, [](const auto& one) { return one->joined; }); };
    std::int64_t wanted = cache.used();
    for (const auto& search : searches) wanted += search->joined ? search->unread() : 0;
    bool full = false;
    for (const auto& search : searches) {
      if (!search->joined) {
        wanted += (whole_prompts ? search->unread() : search->distinct()) + std::ssize(search->beams) * kWorthSharing;
        full = full || (batch_options.cached_tokens > 0 && wanted > batch_options.cached_tokens && joined() > 0);
        if (full) continue;
      }
      Join(*search);
    }
    Pass pass = Parts();
    const auto read = [&] {
      std::int64_t sum = 0;
      for (const Part& part : pass) sum += part.count;
      return sum;
    };
    while (batch_options.cached_tokens > 0 && cache.used() + read() > batch_options.cached_tokens && joined() > 1) {
      LeaveCache(
          **std::ranges::find_if(searches.rbegin(), searches.rend(), [](const auto& one) { return one->joined; }));
      ++evictions;
      pass = Parts();
    }
    return pass;
  }

  // The next token of every text that is read, then chunks of the others.
  Pass Parts() const {
    constexpr std::int64_t fewest = 64;  // tokens of prompts, so that those progress among many others
    Pass pass;
    std::int64_t left = batch_options.pass_tokens;
    for (const auto& search : searches)
      if (search->joined && search->IsRunning())
        for (std::size_t beam = 0; beam < search->beams.size(); ++beam)
          for (std::size_t which = 0; which < search->prompts(); ++which, --left)
            pass.push_back({search.get(), beam, which, 1});
    left = std::max(left, std::min(fewest, batch_options.pass_tokens));
    for (const auto& search : searches) {
      if (!search->joined || search->IsRunning()) continue;
      // The last tokens of all its beams are read in one pass, whose states the search needs together.
      bool completes = whole_prompts || search->unread() <= left;
      for (std::size_t beam = 0; beam < search->beams.size(); ++beam)
        for (std::size_t which = 0; which < search->prompts(); ++which)
          completes = completes && search->cached[beam][which].text >= 0 &&
                      (search->unread(beam, which) == 1 || search->tokens(beam, which) <= alone_from);
      for (std::size_t beam = 0; beam < search->beams.size(); ++beam)
        for (std::size_t which = 0; which < search->prompts(); ++which) {
          std::int64_t count = search->unread(beam, which);
          const std::int32_t read = search->cached[beam][which].read;
          if (search->cached[beam][which].text < 0) continue;
          if (!completes) {
            count = std::min(count - 1, left);
            if (count > 0 && read + count > alone_from) count = read < alone_from ? alone_from - read : 1;
          }
          if (count <= 0) continue;
          pass.push_back({search.get(), beam, which, static_cast<std::int32_t>(count)});
          left -= count;
        }
      if (left <= 0) break;
    }
    return pass;
  }

  // The hidden states after the pass's tokens, [tokens, model].
  Tensor Read(const Pass& pass) {
    std::vector<std::int32_t> ids, lengths, texts;
    bool wants_attention = false;
    for (const auto& [search, beam, which, count] : pass) {
      const CachedBeam& cached = search->cached[beam][which];
      for (std::int32_t i = 0; i < count; ++i) ids.push_back(search->TokenAt(beam, which, cached.read + i));
      lengths.push_back(count);
      texts.push_back(cached.text);
      wants_attention = wants_attention || search->options().attention;
    }
    attention.assign(pass.size(), {});
    context.hooks.attention = {};
    if (wants_attention)
      context.hooks.attention = [&](const LayerAttention& seen) {
        if (!context.draft) attention[static_cast<std::size_t>(seen.sentence)] = RowsOf(seen.weights);
      };
    cache.Activate(texts);
    const Tensor hidden = Decode(ids, PackedSequences(lengths));
    std::int64_t row = 0;
    for (std::size_t i = 0; i < pass.size(); ++i) {
      const auto& [search, beam, which, count] = pass[i];
      CachedBeam& cached = search->cached[beam][which];
      for (std::int64_t token = 0; token < count; ++token, ++row) {
        const float* const state = hidden.matrix<float>().row(row);
        search->damaged = search->damaged || !std::isfinite(std::accumulate(state, state + hidden.columns(), 0.0));
      }
      if (search->options().attention && which == 0) {
        std::vector<AttentionRow>& rows = search->beams[beam].attention;
        for (std::int32_t token = 0; token < count; ++token)  // those of a text that is read again are known
          if (cached.read + token >= std::ssize(rows)) rows.push_back(attention[i][static_cast<std::size_t>(token)]);
      }
      cached.read += count;
    }
    return hidden;
  }

  Tensor Decode(std::span<const std::int32_t> ids, const Sequences& texts) {
    return language != nullptr ? language->Decode(context, ids, texts) : decoder->Decode(context, ids, texts, {});
  }

  // Runs a pass. If it fails, each of its searches is run alone, and those that fail end.
  void Run(const Pass& pass) {
    Tensor hidden;
    try {
      hidden = Read(pass);
    } catch (const Error&) {
      cache.Undo();
      Apart<Part>(
          pass, [](const Part& part) { return part.search; }, [&](const Pass& own) { Run(own); });
      return;
    }
    Choose(pass, hidden);
  }

  // Calls run for the entries of each search apart; the only search ends with the exception that is being handled.
  template <typename Entry>
  void Apart(const std::vector<Entry>& entries, const auto& search_of, const auto& run) {
    std::vector<Search*> all;
    for (const Entry& entry : entries)
      if (std::ranges::find(all, search_of(entry)) == all.end()) all.push_back(search_of(entry));
    if (all.size() == 1) return End(*all[0], std::current_exception());
    for (Search* const search : all) {
      std::vector<Entry> own;
      for (const Entry& entry : entries)
        if (search_of(entry) == search) own.push_back(entry);
      run(own);
    }
  }

  // Extends every search of the pass whose beams are all read.
  void Choose(const Pass& pass, const Tensor& hidden) {
    std::vector<Ready> ready;
    std::int32_t row = -1;
    for (const auto& [search, beam, which, count] : pass) {
      row += count;
      if (search->unread() > 0) continue;
      if (ready.empty() || ready.back().search != search) ready.push_back({search, {}, {}});
      (which == 0 ? ready.back().rows : ready.back().unguided).push_back(row);
    }
    tokens.UpdateLists(context, searches);
    std::vector<std::vector<Ready>> groups;  // of those that are computed together
    for (Ready& one : ready) {
      const auto group = std::ranges::find_if(groups, [&](const std::vector<Ready>& others) {
        const Search& other = *others.front().search;
        return other.request.options == one.search->request.options && other.MayEnd() == one.search->MayEnd();
      });
      if (group == groups.end())
        groups.push_back({std::move(one)});
      else
        group->push_back(std::move(one));
    }
    for (const std::vector<Ready>& group : groups) ExtendGroup(group, hidden);
  }

  void ExtendGroup(const std::vector<Ready>& group, const Tensor& hidden) {
    std::vector<Random> random;
    for (const Ready& one : group) random.push_back(one.search->random);
    std::vector<std::vector<std::int32_t>> banned;
    std::optional<kernels::TopLogits<float>> likeliest;
    try {
      likeliest = tokens.After(context, group, hidden, banned);
    } catch (const Error&) {
      for (std::size_t i = 0; i < group.size(); ++i) group[i].search->random = random[i];
      Apart<Ready>(
          group, [](const Ready& one) { return one.search; },
          [&](const std::vector<Ready>& own) { ExtendGroup(own, hidden); });
      return;
    }
    std::int64_t row = 0;
    for (const Ready& one : group) {
      Extend(*one.search, *likeliest, row, banned);
      row += std::ssize(one.rows);
    }
  }

  // Extends every beam of a search by its next token. Its beams' rows begin at `row`.
  void Extend(Search& search, kernels::TopLogits<float>& likeliest, std::int64_t row,
              std::span<std::vector<std::int32_t>> banned) {
    const SearchOptions& options = search.options();
    const auto first = static_cast<std::size_t>(row), k = static_cast<std::size_t>(likeliest.k);
    const auto force = [&](std::size_t beam, std::int32_t token) {
      Force(likeliest, beam, token);
      if (!banned.empty()) banned[beam].clear();
    };
    if (options.first_token && search.length == 1) force(first, *options.first_token);
    if (options.last_token && search.length == search.max_length)
      for (std::size_t beam = first; beam < first + search.beams.size(); ++beam) {
        const auto& ends = options.end_ids;
        search.cut = search.cut || std::ranges::find(ends, likeliest.columns[beam * k]) == ends.end();
        force(beam, *options.last_token);
      }
    std::vector<std::size_t> from;
    try {
      from = Advance(search, likeliest, row, search.length, options, banned);
    } catch (...) {  // whatever options.stops throws
      return End(search, std::current_exception());
    }

    // A beam goes on with the cached texts of the one that it continues; those after the first copy them.
    std::vector<std::array<CachedBeam, 2>> continued;
    std::vector<bool> taken(search.cached.size());
    for (const std::size_t beam : from) {
      std::array<CachedBeam, 2>& own = continued.emplace_back(search.cached[beam]);
      for (std::size_t which = 0; which < search.prompts() && taken[beam]; ++which)
        own[which].text = cache.CopyText(own[which].text);
      taken[beam] = true;
    }
    for (std::size_t beam = 0; beam < taken.size(); ++beam)
      for (std::size_t which = 0; which < search.prompts() && !taken[beam]; ++which)
        cache.RemoveText(search.cached[beam][which].text);
    search.cached = std::move(continued);
    Tell(search);
  }

  // Reports the search's newest token, unless it was the end, and ends the search if it is done.
  void Tell(Search& search) {
    const std::vector<std::int32_t>& ids = search.done ? search.finished.front().ids : search.beams.front().ids;
    const bool is_end = std::ssize(ids) < search.length;
    bool goes_on = true;
    if (!is_end) ++told;
    try {
      if (search.request.on_token && !is_end) goes_on = search.request.on_token(ids.back());
    } catch (...) {  // whatever the caller throws
      return End(search, std::current_exception());
    }
    if (!goes_on) {
      if (!search.done) {
        const Beam& beam = search.beams.front();
        search.finished.push_back({beam.ids, beam.log_probability,
                                   ScoreOf(search.options(), beam.log_probability, search.length), /*ended=*/true,
                                   beam.attention, beam.token_scores});
      }
      search.finished.front().ended = true;
      search.done = true;
    }
    ++search.length;
    if (search.done) End(search);
  }

  // True if the only text is greedy, and the model has a draft.
  bool MayDraft() const {
    if (searches.size() != 1 || !parameters().have_draft()) return false;
    const Search& search = *searches.front();
    return search.joined && search.options().beam_size == 1 && search.options().guidance == 1 &&
           ChoosesLikeliest(search.options()) && search.length > 1 && search.length <= search.LastUnforced() &&
           search.IsRunning();
  }

  // Extends the only text by its next token and the accepted drafts after it.
  void Draft() {
    Search& search = *searches.front();
    CachedBeam& cached = search.cached.front().front();
    context.hooks.attention = {};
    if (search.options().attention)
      context.hooks.attention = [&](const LayerAttention& seen) {
        if (!context.draft) attention.assign(1, RowsOf(seen.weights));
      };
    cache.Activate({cached.text});
    const std::int32_t before = cache.length(cached.text), length = search.length;
    const auto read = [&](std::span<const std::int32_t> ids) {
      const Tensor hidden = Decode(ids, {{0, static_cast<std::int32_t>(ids.size())}});
      return tokens.AfterDrafts(context, search, hidden);
    };
    // Up to the last token for which the same tokens are allowed.
    const std::int32_t until =
        std::min(length <= search.request.min_new_tokens ? search.request.min_new_tokens : search.max_length,
                 search.LastUnforced());
    std::vector<std::int32_t> drafted = {search.beams.front().ids.back()};
    context.draft = true;
    while (std::ssize(drafted) <= std::min(kMostDrafts, until - length) &&
           std::ranges::find(search.options().end_ids, drafted.back()) == search.options().end_ids.end())
      drafted.push_back(read(std::span(drafted).last(1)).columns.front());
    context.draft = false;
    cache.Shorten(cached.text, before);

    const kernels::TopLogits<float> next = read(drafted);
    for (bool goes_on = true; goes_on && !searches.empty();) {
      const std::int32_t row = search.length - length;
      tokens.CheckFinite(next, row, search.length);  // not those behind a rejected draft
      try {
        Advance(search, next, row, search.length, search.options());
      } catch (...) {  // whatever options.stops throws
        return End(search, std::current_exception());
      }
      auto& rows = search.done ? search.finished.front().attention : search.beams.front().attention;
      if (search.options().attention) rows.push_back(attention.front()[static_cast<std::size_t>(row)]);
      const std::size_t right = static_cast<std::size_t>(row) + 1;
      goes_on = !search.done && right < drafted.size() && search.beams.front().ids.back() == drafted[right];
      if (!goes_on) {
        cache.Shorten(cached.text, before + row + 1);
        cached.read += row + 1;
      }
      Tell(search);
    }
  }

  // The model, as a language model or as a decoder with cross-attention.
  const LanguageModel* language;
  const ConditionalDecoder* decoder;
  DecodingBatchOptions batch_options;
  NextTokens tokens;
  std::int64_t vocabulary = 0, positions = 0;                          // of what the decoder reads
  bool whole_prompts = false;                                          // an encoder reads them
  std::int32_t alone_from = std::numeric_limits<std::int32_t>::max();  // tokens from this position are read one by one

  std::map<std::int64_t, Tensor> no_source;  // of each width, [1, width]: the states without a source, for guidance

  Context context;
  DecoderCache cache;
  std::vector<std::unique_ptr<Search>> searches;  // in the order of their ids
  std::vector<Decoded> ended;
  std::vector<std::vector<AttentionRow>> attention;  // of the last pass, of each of its texts
  std::int64_t next_id = 0, evictions = 0, told = 0;
  bool in_step = false;
};

DecodingBatch::DecodingBatch(const LanguageModel& model, const DecodingBatchOptions& options)
    : state_(std::make_unique<State>(&model, nullptr, options, nullptr)) {}

DecodingBatch::DecodingBatch(const ConditionalDecoder& model, const DecodingBatchOptions& options,
                             const Shortlist* shortlist)
    : state_(std::make_unique<State>(nullptr, &model, options, shortlist)) {}

DecodingBatch::~DecodingBatch() = default;

std::int64_t DecodingBatch::Add(DecodingRequest request) {
  State& state = *state_;
  state.CheckNoCallback();
  state.CheckRequest(request);
  auto search = std::make_unique<Search>();
  const SearchOptions& options = *request.options;
  if (options.guidance == 1)
    request.unguided.clear();
  else if (request.unguided.empty())
    request.unguided = state.decoder != nullptr ? request.prompt : std::vector{request.prompt.back()};
  if (state.decoder != nullptr && options.guidance != 1) {
    Tensor& no_source = state.no_source[request.memory.columns()];
    if (no_source.empty()) no_source = Tensor::Zeros({1, request.memory.columns()});
    search->no_source = no_source;
  }
  search->id = state.next_id++;
  search->random = Random(request.seed, request.stream);
  // The last token needs no position: it is not read.
  const auto longest = static_cast<std::int64_t>(std::max(request.prompt.size(), request.unguided.size()));
  search->max_length =
      static_cast<std::int32_t>(std::min<std::int64_t>(request.max_new_tokens, state.positions - longest + 1));
  const auto same =
      std::ranges::find_if(state.searches, [&](const auto& other) { return other->options() == *request.options; });
  if (same != state.searches.end()) request.options = (*same)->request.options;
  search->request = std::move(request);
  search->prompt_ids = search->request.prompt;
  state.searches.push_back(std::move(search));
  return state.searches.back()->id;
}

std::vector<Decoded> DecodingBatch::Step() {
  State& state = *state_;
  state.CheckNoCallback();
  state.in_step = true;
  if (state.MayDraft()) {
    try {
      state.Draft();
    } catch (const Error&) {
      state.context.draft = false;
      state.End(*state.searches.front(), std::current_exception());
    }
  } else if (const Pass pass = state.NextPass(); !pass.empty()) {
    state.Run(pass);
  }
  state.in_step = false;
  return std::exchange(state.ended, {});
}

bool DecodingBatch::Remove(std::int64_t id) {
  state_->CheckNoCallback();
  const auto found = std::ranges::find_if(state_->searches, [&](const auto& search) { return search->id == id; });
  if (found == state_->searches.end()) return false;
  state_->Drop(**found);
  return true;
}

bool DecodingBatch::empty() const { return state_->searches.empty(); }
std::size_t DecodingBatch::size() const { return state_->searches.size(); }
std::int64_t DecodingBatch::tokens() const { return state_->told; }
std::int64_t DecodingBatch::cached_tokens() const { return state_->cache.used(); }
std::int64_t DecodingBatch::cache_bytes() const { return state_->cache.bytes(); }
std::int64_t DecodingBatch::evictions() const { return state_->evictions; }

}  // namespace headlight
