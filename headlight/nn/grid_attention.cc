#include "headlight/nn/grid_attention.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/nn/decoder_cache.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

constexpr std::int32_t kWindow = 5;  // side of the window of `convolution`, in positions
constexpr GridAttentionKind kSparse[] = {GridAttentionKind::row, GridAttentionKind::column,
                                         GridAttentionKind::convolution};

// Appends the rows that the last token of a sequence attends to. `rows` are the rows of the whole sequence.
void AppendVisible(const AttentionMask& mask, std::span<const std::int32_t> rows, GridPass::Keys& keys) {
  const auto count = static_cast<std::int32_t>(rows.size()), position = count - 1;
  const auto begin = static_cast<std::int32_t>(keys.rows.size());
  const std::int32_t prefix = SeenPrefix(mask, position, count);
  keys.rows.insert(keys.rows.end(), rows.begin(), rows.begin() + prefix);
  const KeyRange range = VisibleKeys(mask, position, count);
  const KeyPeriod period = SeenPeriod(mask, position);
  for (std::int32_t key = range.begin; key < range.end; ++key)
    if (period.period == 0 || (key + period.period - period.first) % period.period < period.run)
      keys.rows.push_back(rows[static_cast<std::size_t>(key)]);
  keys.sequences.push_back({begin, static_cast<std::int32_t>(keys.rows.size()) - begin});
}

}  // namespace

AttentionMask MaskOf(GridAttentionKind kind, const GridLayout& layout) {
  const auto width = static_cast<std::int32_t>(layout.grid.width);
  AttentionMask mask = {.causal = true};
  if (kind == GridAttentionKind::full) return mask;
  mask.prefix = layout.text;
  if (kind == GridAttentionKind::row) mask.block = width;
  if (kind == GridAttentionKind::column) mask.stride = width;
  if (kind == GridAttentionKind::convolution) {
    mask.window = kWindow;
    mask.width = width;
  }
  return mask;
}

GridPass::GridPass(const GridLayout& given, const Sequences& given_texts, const DecoderCache* cache)
    : layout(given), texts(given_texts) {
  if (cache != nullptr) {
    const Sequences all_keys(cache->SelfSequences().begin(), cache->SelfSequences().end());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].length != 1 || all_keys[i].length == 1) {
        several.push_back(texts[i]);
        several_keys.push_back(all_keys[i]);
        continue;
      }
      single.push_back(texts[i]);
      for (const GridAttentionKind kind : kSparse)
        AppendVisible(MaskOf(kind, layout), cache->RowsOf(i), seen[static_cast<std::size_t>(kind)]);
    }
    return;
  }
  const auto height = static_cast<std::int32_t>(layout.grid.height),
             width = static_cast<std::int32_t>(layout.grid.width);
  for (const Sequence& text : texts) {
    const std::int32_t words = std::min(text.length, layout.text), codes = text.length - words;
    const auto begin = static_cast<std::int32_t>(by_column.size());
    from_column.resize(std::max(from_column.size(), static_cast<std::size_t>(text.end())));
    const auto place = [&](std::int32_t row) {
      from_column[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(by_column.size());
      by_column.push_back(row);
    };
    for (std::int32_t word = 0; word < words; ++word) place(text.begin + word);
    for (std::int32_t cell = 0; codes > 0 && cell < height * width; ++cell) {
      const std::int32_t code = cell % height * width + cell / height;
      if (code < codes)
        place(text.begin + words + code);
      else
        by_column.push_back(text.begin);  // padding at the end of the column, which no other query attends to
    }
    columns.push_back({begin, static_cast<std::int32_t>(by_column.size()) - begin});
  }
}

GridAttention::GridAttention(const Scope& scope, const GridAttentionConfig& config, int layer)
    : config_(config),
      width_(config.heads * config.head_dim),
      layer_(layer),
      query_key_value_(scope, {"query_key_value"}, config.model, 3 * width_, /*bias=*/false),
      output_(scope, {"output"}, width_, config.model) {}

Tensor GridAttention::operator()(Context& context, const Tensor& x, const GridPass& pass) const {
  const Tensor projected = query_key_value_(context, x);
  return output_(
      context, context.cache == nullptr ? Attend(context, projected, pass) : AttendOverCache(context, projected, pass));
}

// Computes attention without a cache. Column attention is computed as row attention over the transposed grid. There,
// visible keys are contiguous and whole tiles are skipped. Without the transposition, a query would need a few keys of
// every tile.
Tensor GridAttention::Attend(Context& context, const Tensor& projected, const GridPass& pass) const {
  const auto part = [&](const Tensor& of, std::int64_t index) { return ops::Columns(of, index * width_, width_); };
  ScaledDotProductAttention attention = {
      .heads = config_.heads, .mask = MaskOf(config_.kind, pass.layout), .dropout = config_.dropout};
  const AttentionSource source = {AttentionKind::decoder_self, layer_};
  if (config_.kind != GridAttentionKind::column)
    return attention.Attend(context, source, part(projected, 0), part(projected, 1), part(projected, 2), pass.texts,
                            pass.texts);
  attention.Report(context, source, part(projected, 0), part(projected, 1), pass.texts, pass.texts);
  attention.mask = {
      .causal = true, .block = static_cast<std::int32_t>(pass.layout.grid.height), .prefix = pass.layout.text};
  const Tensor turned = ops::Embedding(projected, pass.by_column);
  return ops::Embedding(
      attention(context, part(turned, 0), part(turned, 1), part(turned, 2), pass.columns, pass.columns),
      pass.from_column);
}

Tensor GridAttention::AttendOverCache(Context& context, const Tensor& projected, const GridPass& pass) const {
  DecoderCache& cache = *context.cache;
  const auto layer = static_cast<std::size_t>(layer_);
  cache.Write(layer, projected.ViewColumns(width_, width_), projected.ViewColumns(2 * width_, width_), config_.heads);
  const Tensor query = projected.ViewColumns(0, width_);
  const ops::CachedKeys all = cache.SelfKeys(layer);
  const ScaledDotProductAttention masked = {.heads = config_.heads, .mask = MaskOf(config_.kind, pass.layout)};
  masked.Report(context, {AttentionKind::decoder_self, layer_}, query, all, pass.texts);

  const GridPass::Keys& seen = pass.seen[static_cast<std::size_t>(config_.kind)];
  if (seen.sequences.empty()) return masked(query, all, pass.texts);
  const Tensor of_single = ScaledDotProductAttention{.heads = config_.heads}(
      query, {all.keys, all.values, seen.sequences, seen.rows}, pass.single);
  if (pass.several.empty()) return of_single;
  const Tensor attended = masked(query, {all.keys, all.values, pass.several_keys, all.rows}, pass.several);
  for (const Sequence& text : pass.single) attended.ViewRows(text.begin, 1).CopyFrom(of_single.ViewRows(text.begin, 1));
  return attended;
}

}  // namespace headlight
