#include "headlight/generate/batch_texts.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// A beam waits for a text in progress if waiting lets it copy at least this many more tokens from the text's cache.
constexpr std::int32_t kWorthSharing = 16;

}  // namespace

BatchTexts::BatchTexts(BatchModel& of_model, std::int64_t tokens_of_pass, std::int64_t most_cached)
    : model_(of_model), cache_(of_model.cache), pass_tokens_(tokens_of_pass), cached_tokens_(most_cached) {
  Check(pass_tokens_ >= 1, "`pass_tokens` must be at least 1, not {}", pass_tokens_);
  Check(cached_tokens_ >= 0, "`cached_tokens` must be at least 0, not {}", cached_tokens_);
}

const Tensor& BatchTexts::StatesOf(const Search& search, std::size_t which) {
  return which == 0 ? search.request.memory : search.no_source;
}

std::int32_t BatchTexts::MemoryOf(const Search& search, std::size_t which) const {
  const Tensor& states = StatesOf(search, which);
  if (search.memory[which] >= 0 || !model_.has_memories()) return search.memory[which];
  for (const auto& other : searches)
    for (std::size_t i = 0; i < other->prompts(); ++i)
      if (other->memory[i] >= 0 && StatesOf(*other, i).data<float>() == states.data<float>() &&
          StatesOf(*other, i).shape() == states.shape())
        return other->memory[i];
  return -1;
}

BatchTexts::Beginning BatchTexts::LongestBeginning(const Search& search, std::size_t beam, std::size_t which) const {
  Beginning best;
  // To record attention, every token without recorded rows must be processed.
  if (model_.whole_prompts || (search.options().attention && search.length == 1)) return best;
  const std::int32_t memory = MemoryOf(search, which);
  for (const auto& other : searches) {
    if (other->damaged) continue;
    for (std::size_t i = 0; i < other->beams.size(); ++i)
      for (std::size_t j = 0; j < other->prompts(); ++j) {
        if (other->cached[i][j].text < 0 || other->memory[j] != memory) continue;
        const std::int32_t most = std::min(search.tokens(beam, which) - 1, other->tokens(i, j));
        // Comparing a single token first excludes most texts.
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

void BatchTexts::Join(Search& search) {
  for (std::size_t beam = 0; beam < search.beams.size(); ++beam)
    for (std::size_t which = 0; which < search.prompts(); ++which) {
      if (search.cached[beam][which].text >= 0) continue;
      const Beginning known = LongestBeginning(search, beam, which);
      if (known.later >= known.tokens + kWorthSharing) continue;
      KeepMemory(search, which);
      search.cached[beam][which] = known.text < 0 ? CachedBeam{cache_.AddText(search.memory[which]), 0}
                                                  : CachedBeam{cache_.CopyText(known.text, known.tokens), known.tokens};
      search.joined = true;
    }
}

void BatchTexts::KeepMemory(Search& search, std::size_t which) {
  std::int32_t& memory = search.memory[which];
  if (memory >= 0 || !model_.has_memories()) return;
  memory = MemoryOf(search, which);
  if (memory < 0)
    memory = cache_.AddMemory(StatesOf(search, which));
  else
    cache_.ShareMemory(memory);
}

void BatchTexts::LeaveCache(Search& search) {
  for (auto& beam : search.cached)
    for (CachedBeam& cached : beam) {
      if (cached.text >= 0) cache_.RemoveText(cached.text);
      cached = {};
    }
  search.joined = false;
}

void BatchTexts::Drop(Search& search) {
  LeaveCache(search);
  for (const std::int32_t memory : search.memory)
    if (memory >= 0) cache_.RemoveMemory(memory);
  std::erase_if(searches, [&](const auto& one) { return one.get() == &search; });
}

Pass BatchTexts::NextPass() {
  const auto joined = [&] { return std::ranges::count_if(searches, [](const auto& one) { return one->joined; }); };
  std::int64_t wanted = cache_.used();
  for (const auto& search : searches) wanted += search->joined ? search->unread() : 0;
  bool full = false;
  for (const auto& search : searches) {
    if (!search->joined) {
      wanted +=
          (model_.whole_prompts ? search->unread() : search->distinct()) + std::ssize(search->beams) * kWorthSharing;
      full = full || (cached_tokens_ > 0 && wanted > cached_tokens_ && joined() > 0);
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
  while (cached_tokens_ > 0 && cache_.used() + read() > cached_tokens_ && joined() > 1) {
    LeaveCache(**std::ranges::find_if(searches.rbegin(), searches.rend(), [](const auto& one) { return one->joined; }));
    ++evictions;
    pass = Parts();
  }
  return pass;
}

Pass BatchTexts::Parts() const {
  constexpr std::int64_t fewest =
      64;  // minimum number of prompt tokens, so that prompts make progress even in a full batch
  Pass pass;
  std::int64_t left = pass_tokens_;
  for (const auto& search : searches)
    if (search->joined && search->IsRunning())
      for (std::size_t beam = 0; beam < search->beams.size(); ++beam)
        for (std::size_t which = 0; which < search->prompts(); ++which, --left)
          pass.push_back({search.get(), beam, which, 1});
  left = std::max(left, std::min(fewest, pass_tokens_));
  for (const auto& search : searches) {
    if (!search->joined || search->IsRunning()) continue;
    // The search requires the last tokens of all its beams together. These tokens are therefore in one pass.
    bool completes = model_.whole_prompts || search->unread() <= left;
    for (std::size_t beam = 0; beam < search->beams.size(); ++beam)
      for (std::size_t which = 0; which < search->prompts(); ++which)
        completes = completes && search->cached[beam][which].text >= 0 &&
                    (search->unread(beam, which) == 1 || search->tokens(beam, which) <= model_.alone_from);
    for (std::size_t beam = 0; beam < search->beams.size(); ++beam)
      for (std::size_t which = 0; which < search->prompts(); ++which) {
        std::int64_t count = search->unread(beam, which);
        const std::int32_t read = search->cached[beam][which].read;
        if (search->cached[beam][which].text < 0) continue;
        if (!completes) {
          count = std::min(count - 1, left);
          if (count > 0 && read + count > model_.alone_from)
            count = read < model_.alone_from ? model_.alone_from - read : 1;
        }
        if (count <= 0) continue;
        pass.push_back({search.get(), beam, which, static_cast<std::int32_t>(count)});
        left -= count;
      }
    if (left <= 0) break;
  }
  return pass;
}

}  // namespace headlight
