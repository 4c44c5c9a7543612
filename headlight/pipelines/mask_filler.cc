#include "headlight/pipelines/mask_filler.h"

#include <algorithm>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/models/esm.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/softmax.h"
#include "headlight/pipelines/encoder_folder.h"

namespace headlight {
namespace {

constexpr std::size_t kMasksAtOnce = 64;  // each mask needs logits over the vocabulary

}  // namespace

struct MaskFiller::State {
  EncoderFolder loaded;
  std::int32_t mask_id;
};

MaskFiller MaskFiller::Load(const std::string& folder, const LoadOptions& options) {
  EncoderFolder loaded = LoadEncoderFolder(folder, options, NeededHead{&TextHeadsConfig::masked_words, "masked words"});
  for (const char* mask : {"[MASK]", "<mask>"})
    if (const auto id = loaded.tokenizer.Find(mask); id && loaded.tokenizer.IsSpecial(*id))
      return MaskFiller(std::make_shared<State>(State{std::move(loaded), *id}));
  Fail("{}: the tokenizer has no mask token; [MASK] and <mask> are supported", folder);
}

std::vector<std::vector<FilledMask>> MaskFiller::Fill(std::span<const std::string> texts,
                                                      const FillOptions& options) const {
  const EncoderFolder& loaded = state_->loaded;
  const std::int32_t mask_id = state_->mask_id;
  const std::int64_t vocabulary = loaded.model->limits().vocabulary;
  Check(options.top_k >= 1, "`top_k` must be at least 1, not {}", options.top_k);
  std::vector<Encoding> encodings;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CheckText(texts[i], options.name_of, i);
    encodings.push_back(loaded.tokenizer.Encode(texts[i]));
    const bool truncated = options.truncate && Truncate(encodings[i], longest(), loaded.tokenizer.cut_at());
    Check(std::ranges::find(encodings[i].ids, mask_id) != encodings[i].ids.end(), "{}: there is no {} in {}",
          NameOf(options.name_of, i), mask(), truncated ? "what the model reads of it" : "it");
    CheckLength(encodings[i], *loaded.model, NameOf(options.name_of, i), kTruncateAdvice);
    if (truncated && options.on_truncated) options.on_truncated(i);
  }

  std::vector<std::vector<FilledMask>> result(texts.size());
  const auto fill = [&](Context& context, const Tensor& hidden, const Sequences& places,
                        std::span<const std::size_t> which) {
    std::vector<std::int32_t> rows;  // row of each mask
    std::vector<std::size_t> text_of;
    for (std::size_t i = 0; i < which.size(); ++i) {
      const std::vector<std::int32_t>& ids = encodings[which[i]].ids;
      for (std::int32_t token = 0; token < places[i].length; ++token) {
        if (ids[static_cast<std::size_t>(token)] != mask_id) continue;
        rows.push_back(places[i].begin + token);
        text_of.push_back(which[i]);
      }
    }
    // The model's rows beyond the tokenizer's vocabulary are padding.
    std::vector<std::int32_t> order(
        static_cast<std::size_t>(std::min<std::int64_t>(vocabulary, loaded.tokenizer.size())));
    const auto best = order.begin() + std::min<std::ptrdiff_t>(options.top_k, std::ssize(order));
    for (std::size_t first = 0; first < rows.size(); first += kMasksAtOnce) {
      const std::span<const std::int32_t> some(rows.begin() + static_cast<std::ptrdiff_t>(first),
                                               std::min(kMasksAtOnce, rows.size() - first));
      const Tensor probabilities = ops::Softmax(loaded.model->MaskedTokenLogits(context, ops::Embedding(hidden, some)));
      for (std::size_t row = 0; row < some.size(); ++row) {
        CheckFinite(probabilities.ViewRows(static_cast<std::int64_t>(row), 1), *loaded.model,
                    "filling " + NameOf(options.name_of, text_of[first + row]));
        const float* const p = probabilities.matrix<float>().row(static_cast<std::int64_t>(row));
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), best, order.end(),
                          [p](std::int32_t x, std::int32_t y) { return p[x] != p[y] ? p[x] > p[y] : x < y; });
        FilledMask& words = result[text_of[first + row]].emplace_back();
        for (auto id = order.begin(); id != best; ++id)
          words.push_back({loaded.tokenizer.Decode({&*id, 1}, /*skip_special=*/false), *id, p[*id]});
      }
    }
  };
  EncodeInBatches(*loaded.model, encodings, options.batch_tokens, fill);
  return result;
}

std::int64_t MaskFiller::longest() const { return state_->loaded.model->limits().positions; }
bool MaskFiller::reads_proteins() const { return dynamic_cast<const Esm*>(state_->loaded.model.get()) != nullptr; }

const std::string& MaskFiller::mask() const { return state_->loaded.tokenizer.Piece(state_->mask_id); }

}  // namespace headlight
