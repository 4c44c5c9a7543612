#include "headlight/pipelines/draw_tokens.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/generate.h"
#include "headlight/nn/decoder_cache.h"

namespace headlight {

namespace {

// Returns the size, in bytes, of the keys and values of a sequence that fills the model's positions.
std::int64_t BytesOfSequence(const LanguageModel& model, std::span<const std::int32_t> prompt) {
  DecoderCache cache;
  Context context;
  context.cache = &cache;
  model.Decode(context, prompt, {{0, static_cast<std::int32_t>(prompt.size())}});
  return cache.token_bytes() * model.limits().positions;
}

}  // namespace

std::vector<std::vector<std::int32_t>> DrawTokens(const LanguageModel& model, const TokensToDraw& wanted,
                                                  const TextToImageOptions& options) {
  if (wanted.prompts.empty()) return {};
  // The size of the keys and values is limited to about 256 MB. Generating more images at once is hardly faster.
  constexpr std::int64_t most = 64, memory = 1 << 28;
  const std::int64_t bytes_each = BytesOfSequence(model, wanted.prompts.front()) * (options.guidance == 1 ? 1 : 2);
  const std::int64_t at_once = std::clamp<std::int64_t>(memory / bytes_each, 1, most);
  const std::int64_t all = wanted.count * std::ssize(wanted.prompts);
  std::int64_t done = 0;
  GenerationOptions generation{
      .search = {.sample = true,
                 .sampling = {.temperature = options.temperature, .top_k = options.top_k, .top_p = options.top_p},
                 .guidance = options.guidance},
      .unguided = wanted.unguided,
      .seed = options.seed,
      .max_new_tokens = static_cast<std::int32_t>(wanted.count),
      .cancelled = options.cancelled};
  if (wanted.never) {
    generation.search.end_ids = {*wanted.never};
    generation.min_new_tokens = generation.max_new_tokens;
  }
  generation.on_token = [&](std::size_t, std::int32_t) {
    if (options.progress) options.progress(++done, all);
    return true;
  };
  std::vector<std::vector<std::int32_t>> drawn;
  for (auto begin = wanted.prompts.begin(); begin != wanted.prompts.end();) {
    const auto end = begin + std::min<std::ptrdiff_t>(at_once, wanted.prompts.end() - begin);
    generation.first_stream = options.first_stream + drawn.size();
    generation.batch_tokens = (end - begin) * std::ssize(*begin);
    for (std::vector<Hypothesis>& best : Generate(model, std::vector(begin, end), generation)) {
      std::vector<std::int32_t>& ids = drawn.emplace_back(std::move(best.front().ids));
      Ensure(std::ssize(ids) == wanted.count, "{} tokens were sampled, not {}", ids.size(), wanted.count);
    }
    begin = end;
  }
  return drawn;
}

}  // namespace headlight
