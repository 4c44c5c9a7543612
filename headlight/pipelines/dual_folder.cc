#include "headlight/pipelines/dual_folder.h"

#include "headlight/base/error.h"
#include "headlight/inspect/relevance.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/pipelines/tokenizer_fit.h"

namespace headlight {

DualFolder LoadDualFolder(const std::string& folder, const LoadOptions& options, LoadFor purpose) {
  CheckImageOptions(folder, options);
  DualFolder loaded;
  loaded.model = LoadModel<DualEncoder>(folder, {.compute = options.compute, .purpose = purpose});
  const DualEncoder::Limits& limits = loaded.model->limits();
  if (limits.has_texts()) {
    loaded.texts = WholeTexts::Load(folder, limits.positions, limits.filled);
    CheckRows(folder, loaded.texts->tokenizer.size(), limits.vocabulary);
  }
  if (limits.has_images()) loaded.processor = LoadColorProcessor(folder, limits.images.channels, limits.images.patch);
  return loaded;
}

namespace {

// Tokenizes a text without truncation. Throws Error if the text is too long.
WholeTexts::Read ReadWhole(const DualFolder& loaded, std::string_view text) {
  loaded.model->CheckTexts();
  WholeTexts::Read read = (*loaded.texts)(text);
  Check(read.cut == 0, "the text has {} tokens, and the model reads at most {}", std::ssize(read.ids) + read.cut,
        loaded.texts->longest);
  return read;
}

}  // namespace

AttentionRecord ImageRelevanceOf(const DualFolder& loaded, const Image& image, std::string_view text) {
  loaded.model->CheckImages();
  return RelevanceOf(*loaded.model, *loaded.processor, image, ReadWhole(loaded, text).ids, std::string(text));
}

AttentionRecord TextAttentionOf(const DualFolder& loaded, std::string_view text) {
  const DualEncoder& model = *loaded.model;
  const WholeTexts::Read read = ReadWhole(loaded, text);
  AttentionRecord record;
  std::vector<std::string>& tokens = model.limits().causal ? record.target_tokens : record.source_tokens;
  std::vector<int>& special = model.limits().causal ? record.target_special : record.source_special;
  tokens = loaded.texts->tokenizer.Labels(read.ids);
  for (std::size_t i = 0; i < read.ids.size(); ++i)
    if (loaded.texts->tokenizer.IsSpecial(read.ids[i])) special.push_back(static_cast<int>(i));
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) { record.maps.push_back(MapOf(seen)); };
  model.EncodeTexts(context, read.ids, {{0, static_cast<std::int32_t>(read.ids.size())}});
  return record;
}

}  // namespace headlight
