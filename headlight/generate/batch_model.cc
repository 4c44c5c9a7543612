#include "headlight/generate/batch_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/kinds/text_to_image_model.h"

namespace headlight {
namespace {

// Sums weights [1, heads, query, key] over the heads. Returns one row per query.
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

}  // namespace

BatchModel::BatchModel(const LanguageModel* of_language, const ConditionalDecoder* of_decoder,
                       kernels::CacheType cache_type, const Shortlist* shortlist)
    : tokens(of_language != nullptr ? OutputOf(*of_language) : OutputOf(*of_decoder), shortlist),
      cache(cache_type),
      language_(of_language),
      decoder_(of_decoder) {
  vocabulary_ = language_ != nullptr ? language_->limits().vocabulary : decoder_->limits().target_vocabulary;
  positions = language_ != nullptr ? language_->limits().positions : decoder_->limits().positions;
  if (const auto* const drawing = dynamic_cast<const TextToImageModel*>(language_)) {
    whole_prompts = drawing->drawing().encodes_text;
    if (!whole_prompts) alone_from = drawing->drawing().prompt;
  }
  context.cache = &cache;
  context.hooks.wanted = [this](const AttentionSource& source) {
    return source.kind == AttentionKind::cross && std::cmp_equal(source.layer + 1, cache.layers());
  };
}

bool BatchModel::has_draft() const {
  return (language_ != nullptr ? language_->parameters() : decoder_->parameters()).have_draft();
}

void BatchModel::CheckRequest(const DecodingRequest& request) const {
  Ensure(request.options != nullptr, "a request without options");
  const SearchOptions& options = *request.options;
  CheckSearch(options, tokens.vocabulary());
  const auto check_prompt = [&](const std::vector<std::int32_t>& prompt) {
    Check(!prompt.empty() && std::cmp_less_equal(prompt.size(), positions),
          "a prompt must have from 1 to {} tokens, not {}", positions, prompt.size());
    for (const std::int32_t id : prompt)
      Check(id >= 0 && id < vocabulary_, "the token {} is outside the vocabulary of {}", id, vocabulary_);
  };
  check_prompt(request.prompt);
  if (!request.unguided.empty()) check_prompt(request.unguided);
  Check(request.max_new_tokens >= 1, "`max_new_tokens` must be at least 1, not {}", request.max_new_tokens);
  Check(request.min_new_tokens >= 0, "`min_new_tokens` must be at least 0, not {}", request.min_new_tokens);
  Check(!request.on_token || options.beam_size == 1,
        "`on_token` needs a `beam_size` of 1: tokens of an unfinished beam can change");
  Check(language_ == nullptr || language_->logit_cap() == 0 || options.guidance == 1,
        "`guidance` is for models without a cap of their logits");
  Check(language_ == nullptr || !options.attention, "`attention` is for models with cross-attention");
  Ensure((language_ == nullptr) != request.memory.empty(), "a memory is for a decoder with cross-attention");
  Check(request.memory.empty() || (request.memory.shape().rank() == 2 && request.memory.dtype() == DType::float32 &&
                                   request.memory.rows() >= 1),
        "a memory must be float32 states [tokens, model] of at least 1 token, not {} of shape {}",
        Name(request.memory.dtype()), ToString(request.memory.shape()));
  Ensure(!tokens.has_shortlist() || !request.source.empty(), "a shortlist needs a source text");
  for (const std::int32_t id : request.source)
    Check(!tokens.has_shortlist() || (id >= 0 && id < decoder_->limits().source_vocabulary),
          "the source's token {} is outside its vocabulary", id);
}

Tensor BatchModel::NoSource(std::int64_t width) {
  Tensor& states = no_source_[width];
  if (states.empty()) states = Tensor::Zeros({1, width});
  return states;
}

void BatchModel::RecordAttention(std::size_t texts, bool wanted) {
  attention_.assign(texts, {});
  context.hooks.attention = {};
  if (wanted)
    context.hooks.attention = [this](const LayerAttention& seen) {
      if (!context.draft) attention_[static_cast<std::size_t>(seen.sequence)] = RowsOf(seen.weights);
    };
}

Tensor BatchModel::Read(const Pass& pass) {
  std::vector<std::int32_t> ids, lengths, texts;
  bool wants_attention = false;
  for (const auto& [search, beam, which, count] : pass) {
    const CachedBeam& cached = search->cached[beam][which];
    for (std::int32_t i = 0; i < count; ++i) ids.push_back(search->TokenAt(beam, which, cached.read + i));
    lengths.push_back(count);
    texts.push_back(cached.text);
    wants_attention = wants_attention || search->options().attention;
  }
  RecordAttention(pass.size(), wants_attention);
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
      for (std::int32_t token = 0; token < count; ++token)  // the first rows of an evicted text are known
        if (cached.read + token >= std::ssize(rows)) rows.push_back(attention_[i][static_cast<std::size_t>(token)]);
    }
    cached.read += count;
  }
  return hidden;
}

Tensor BatchModel::Decode(std::span<const std::int32_t> ids, const Sequences& texts) {
  return language_ != nullptr ? language_->Decode(context, ids, texts) : decoder_->Decode(context, ids, texts, {});
}

BatchModel::Drafts BatchModel::Draft(const Search& search, std::int32_t most) {
  const std::int32_t text = search.cached.front().front().text;
  RecordAttention(1, search.options().attention);
  cache.Activate({text});
  const std::int32_t before = cache.length(text);
  const auto read = [&](std::span<const std::int32_t> ids) {
    const Tensor hidden = Decode(ids, {{0, static_cast<std::int32_t>(ids.size())}});
    return tokens.AfterDrafts(context, search, hidden);
  };
  std::vector<std::int32_t> ids = {search.beams.front().ids.back()};
  context.draft = true;
  while (std::ssize(ids) <= most &&
         std::ranges::find(search.options().end_ids, ids.back()) == search.options().end_ids.end())
    ids.push_back(read(std::span(ids).last(1)).columns.front());
  context.draft = false;
  cache.Shorten(text, before);
  const kernels::TopLogits<float> likeliest = read(ids);
  return {std::move(ids), likeliest, std::move(attention_.front()), before};
}

}  // namespace headlight
