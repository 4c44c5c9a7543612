#include "headlight/generate/decoding_batch.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/batch_model.h"
#include "headlight/generate/batch_texts.h"
#include "headlight/generate/beam_search.h"
#include "headlight/generate/choose_tokens.h"
#include "headlight/generate/search.h"

namespace headlight {
namespace {

// Number of draft tokens that each forward pass verifies.
constexpr std::int32_t kMostDrafts = 3;

// Sets all candidates of a row to `token` with probability 1.
void Force(kernels::TopLogits<float>& likeliest, std::size_t row, std::int32_t token) {
  const auto k = static_cast<std::size_t>(likeliest.k);
  std::fill_n(likeliest.values.begin() + static_cast<std::ptrdiff_t>(row * k), k,
              -std::numeric_limits<float>::infinity());
  likeliest.values[row * k] = 0;
  likeliest.columns[row * k] = token;
}

}  // namespace

struct DecodingBatch::State {
  State(const LanguageModel* language, const ConditionalDecoder* decoder, const DecodingBatchOptions& options,
        const Shortlist* shortlist)
      : model(language, decoder, options.cache_type, shortlist),
        texts(model, options.pass_tokens, options.cached_tokens) {}
  State(const State&) = delete;

  void CheckNoCallback() const { Ensure(!in_step, "a callback must not call its batch"); }

  void End(Search& search, std::exception_ptr error = nullptr) {
    Decoded result{search.id, {}, std::move(error)};
    if (result.error == nullptr) {
      result.hypotheses = std::move(search.finished);
      for (Hypothesis& hypothesis : result.hypotheses)
        if (search.cut && std::ssize(hypothesis.ids) + 1 == search.max_length) hypothesis.ended = false;
      result.hypotheses.resize(std::min(result.hypotheses.size(), static_cast<std::size_t>(search.options().n_best)));
    }
    ended.push_back(std::move(result));
    texts.Drop(search);
  }

  // Runs a forward pass. If it fails, runs each of its searches separately, and ends the searches that fail.
  void Run(const Pass& pass) {
    Tensor hidden;
    try {
      hidden = model.Read(pass);
    } catch (const Error&) {
      model.cache.Undo();
      RunSeparately<Part>(
          pass, [](const Part& part) { return part.search; }, [&](const Pass& own) { Run(own); });
      return;
    }
    Choose(pass, hidden);
  }

  // Calls `run` separately for the entries of each search. If there is only one search, ends it with the current
  // exception.
  template <typename Entry>
  void RunSeparately(const std::vector<Entry>& entries, const auto& search_of, const auto& run) {
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

  // Extends every search of the pass whose tokens are all in the cache.
  void Choose(const Pass& pass, const Tensor& hidden) {
    std::vector<Ready> ready;
    std::int32_t row = -1;
    for (const auto& [search, beam, which, count] : pass) {
      row += count;
      if (search->unread() > 0) continue;
      if (ready.empty() || ready.back().search != search) ready.push_back({search, {}, {}});
      (which == 0 ? ready.back().rows : ready.back().unguided).push_back(row);
    }
    model.tokens.UpdateLists(model.context, texts.searches);
    std::vector<std::vector<Ready>> groups;  // searches whose next tokens are chosen together
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
      likeliest = model.tokens.After(model.context, group, hidden, banned);
    } catch (const Error&) {
      for (std::size_t i = 0; i < group.size(); ++i) group[i].search->random = random[i];
      RunSeparately<Ready>(
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

  // Extends every beam of a search by its next token. The search's rows in `likeliest` and `banned` begin at `row`.
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
    } catch (...) {  // thrown by options.stops
      return End(search, std::current_exception());
    }

    // A beam continues the cached texts of its predecessor. If several beams have the same predecessor, all except the
    // first copy these texts.
    std::vector<std::array<CachedBeam, 2>> continued;
    std::vector<bool> taken(search.cached.size());
    for (const std::size_t beam : from) {
      std::array<CachedBeam, 2>& own = continued.emplace_back(search.cached[beam]);
      for (std::size_t which = 0; which < search.prompts() && taken[beam]; ++which)
        own[which].text = model.cache.CopyText(own[which].text);
      taken[beam] = true;
    }
    for (std::size_t beam = 0; beam < taken.size(); ++beam)
      for (std::size_t which = 0; which < search.prompts() && !taken[beam]; ++which)
        model.cache.RemoveText(search.cached[beam][which].text);
    search.cached = std::move(continued);
    Report(search);
  }

  // Reports the search's newest token unless it is the end token. Ends the search if it is done.
  void Report(Search& search) {
    const std::vector<std::int32_t>& ids = search.done ? search.finished.front().ids : search.beams.front().ids;
    const bool is_end = std::ssize(ids) < search.length;
    bool goes_on = true;
    if (!is_end) ++told;
    try {
      if (search.request.on_token && !is_end) goes_on = search.request.on_token(ids.back());
    } catch (...) {  // thrown by the caller's callback
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

  // Returns true if there is one text, it uses greedy search, and the model has a draft.
  bool MayDraft() const {
    if (texts.searches.size() != 1 || !model.has_draft()) return false;
    const Search& search = *texts.searches.front();
    return search.joined && search.options().beam_size == 1 && search.options().guidance == 1 &&
           ChoosesLikeliest(search.options()) && search.length > 1 && search.length <= search.LastUnforced() &&
           search.IsRunning();
  }

  // Extends the only text by its next token and the accepted drafts after it.
  void Draft() {
    Search& search = *texts.searches.front();
    const std::int32_t length = search.length;
    // Drafting stops before the set of allowed tokens changes.
    const std::int32_t until =
        std::min(length <= search.request.min_new_tokens ? search.request.min_new_tokens : search.max_length,
                 search.LastUnforced());
    const BatchModel::Drafts drafts = model.Draft(search, std::min(kMostDrafts, until - length));
    for (bool goes_on = true; goes_on && !texts.searches.empty();) {
      const std::int32_t row = search.length - length;
      model.tokens.CheckFinite(drafts.likeliest, row, search.length);  // tokens after a rejected draft are not checked
      try {
        Advance(search, drafts.likeliest, row, search.length, search.options());
      } catch (...) {  // thrown by options.stops
        return End(search, std::current_exception());
      }
      auto& rows = search.done ? search.finished.front().attention : search.beams.front().attention;
      if (search.options().attention) rows.push_back(drafts.attention[static_cast<std::size_t>(row)]);
      const std::size_t right = static_cast<std::size_t>(row) + 1;
      goes_on = !search.done && right < drafts.ids.size() && search.beams.front().ids.back() == drafts.ids[right];
      if (!goes_on) {
        CachedBeam& cached = search.cached.front().front();
        model.cache.Shorten(cached.text, drafts.cached + row + 1);
        cached.read += row + 1;
      }
      Report(search);
    }
  }

  BatchModel model;
  BatchTexts texts;
  std::vector<Decoded> ended;
  std::int64_t next_id = 0, told = 0;
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
  state.model.CheckRequest(request);
  auto search = std::make_unique<Search>();
  const SearchOptions& options = *request.options;
  if (options.guidance == 1)
    request.unguided.clear();
  else if (request.unguided.empty())
    request.unguided = state.model.has_memories() ? request.prompt : std::vector{request.prompt.back()};
  if (state.model.has_memories() && options.guidance != 1)
    search->no_source = state.model.NoSource(request.memory.columns());
  search->id = state.next_id++;
  search->random = Random(request.seed, request.stream);
  // The last token needs no position because it is not an input.
  const auto longest = static_cast<std::int64_t>(std::max(request.prompt.size(), request.unguided.size()));
  search->max_length =
      static_cast<std::int32_t>(std::min<std::int64_t>(request.max_new_tokens, state.model.positions - longest + 1));
  const auto same = std::ranges::find_if(state.texts.searches,
                                         [&](const auto& other) { return other->options() == *request.options; });
  if (same != state.texts.searches.end()) request.options = (*same)->request.options;
  search->request = std::move(request);
  search->prompt_ids = search->request.prompt;
  state.texts.searches.push_back(std::move(search));
  return state.texts.searches.back()->id;
}

std::vector<Decoded> DecodingBatch::Step() {
  State& state = *state_;
  state.CheckNoCallback();
  state.in_step = true;
  if (state.MayDraft()) {
    try {
      state.Draft();
    } catch (const Error&) {
      state.model.context.draft = false;
      state.End(*state.texts.searches.front(), std::current_exception());
    }
  } else if (const Pass pass = state.texts.NextPass(); !pass.empty()) {
    state.Run(pass);
  }
  state.in_step = false;
  return std::exchange(state.ended, {});
}

bool DecodingBatch::Remove(std::int64_t id) {
  state_->CheckNoCallback();
  const auto found = std::ranges::find_if(state_->texts.searches, [&](const auto& search) { return search->id == id; });
  if (found == state_->texts.searches.end()) return false;
  state_->texts.Drop(**found);
  return true;
}

bool DecodingBatch::empty() const { return state_->texts.searches.empty(); }
std::size_t DecodingBatch::size() const { return state_->texts.searches.size(); }
std::int64_t DecodingBatch::tokens() const { return state_->told; }
std::int64_t DecodingBatch::cached_tokens() const { return state_->model.cache.used(); }
std::int64_t DecodingBatch::token_bytes() const { return state_->model.cache.token_bytes(); }
std::int64_t DecodingBatch::cache_bytes() const { return state_->model.cache.bytes(); }
std::int64_t DecodingBatch::evictions() const { return state_->texts.evictions; }

}  // namespace headlight
