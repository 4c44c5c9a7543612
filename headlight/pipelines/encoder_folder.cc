#include "headlight/pipelines/encoder_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/generate/batched.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/tokenizer_fit.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

// Groups the indices of equal encodings.
std::vector<std::vector<std::size_t>> EqualEncodings(std::span<const Encoding* const> encodings) {
  const auto less = [](const Encoding* a, const Encoding* b) {
    return a->ids != b->ids ? a->ids < b->ids : a->type_ids < b->type_ids;
  };
  std::map<const Encoding*, std::size_t, decltype(less)> group_of(less);
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < encodings.size(); ++i) {
    const auto [group, is_new] = group_of.try_emplace(encodings[i], groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(i);
  }
  return groups;
}

}  // namespace

EncoderFolder LoadEncoderFolder(const std::string& folder, const LoadOptions& options, std::optional<NeededHead> head) {
  Check(!options.shortlist, "{}: shortlist is for a Translator: an encoder has no output vocabulary", folder);
  Check(!options.draft, "{}: draft is for a Translator or a TextGenerator: an encoder generates no text", folder);
  auto model = LoadModel<TextEncoder>(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  if (head && !(model->heads().*head->has)) {
    const std::vector<std::string> names = model->head_names();
    Fail("{}: the model has no head for {}; it has {}", folder, head->name,
         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  PipelineTokenizer tokenizer = PipelineTokenizer::Load(TransformerFolder(folder));
  CheckRows(TransformerFolder(folder), tokenizer.size(), model->limits().vocabulary);
  if (model->reads_types()) CheckTypes(TransformerFolder(folder), tokenizer, model->limits().types);
  return {std::move(model), std::move(tokenizer)};
}

AttentionRecord AttentionOf(const EncoderFolder& encoder, std::string_view text,
                            std::optional<std::string_view> second) {
  const Encoding encoding = second ? encoder.tokenizer.EncodePair(text, *second) : encoder.tokenizer.Encode(text);
  CheckLength(encoding, *encoder.model, "the text");
  AttentionRecord record;
  record.source_tokens = encoder.tokenizer.Labels(encoding.ids);
  for (std::size_t i = 0; i < encoding.texts.size(); ++i)
    if (encoding.texts[i] < 0) record.source_special.push_back(static_cast<int>(i));
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) { record.maps.push_back(MapOf(seen)); };
  const std::span<const std::int32_t> types = encoding.type_ids;
  encoder.model->Encode(context, encoding.ids, encoder.model->reads_types() ? types : types.first(0),
                        {{0, static_cast<std::int32_t>(encoding.ids.size())}});
  return record;
}

std::string NameOf(const TextName& name, std::size_t text) {
  return name ? name(text) : fmt::format("text {}", text + 1);
}

void CheckText(std::string_view text, const TextName& name, std::size_t index) {
  if (ValidUtf8(text) < text.size()) CheckUtf8(text, NameOf(name, index));
}

void CheckLength(const Encoding& encoding, const TextEncoder& model, const std::string& name, std::string_view advice) {
  Check(!encoding.ids.empty(), "{}: it has no tokens", name);
  const std::int64_t longest = model.limits().positions;
  Check(std::ssize(encoding.ids) <= longest, "{}: {} tokens, and the model reads at most {}{}", name,
        encoding.ids.size(), longest, advice);
}

std::int32_t TokenOfResidue(const EncoderFolder& encoder, char letter, const std::string& name) {
  const std::optional<std::int32_t> id = encoder.tokenizer.Find(std::string(1, letter));
  Check(id.has_value(), "{}: residue {} is not in the model's vocabulary", name, Quoted(std::string(1, letter)));
  return *id;
}

void CheckResidues(const EncoderFolder& encoder, std::string_view letters, const Encoding& encoding,
                   const std::string& name) {
  Check(!letters.empty(), "{}: it has no residues", name);
  bool each = encoding.ids.size() == letters.size() + 2;
  for (std::size_t i = 0; i < letters.size(); ++i)
    each = TokenOfResidue(encoder, letters[i], name) == encoding.ids[std::min(i + 1, encoding.ids.size() - 1)] && each;
  Check(each, "{}: the model's tokens are not residues, as ESM's are", name);
}

Encoding EncodeResidues(const EncoderFolder& encoder, std::string_view letters, const std::string& name) {
  Check(!letters.empty(), "{}: it has no residues", name);
  Encoding encoding = encoder.tokenizer.Encode(letters);
  CheckLength(encoding, *encoder.model, name);
  CheckResidues(encoder, letters, encoding, name);
  return encoding;
}

void CheckFinite(const Tensor& result, const Model& model, const std::string& step) {
  const auto finite = [](float number) { return std::isfinite(number); };
  if (!std::ranges::all_of(result.span<float>(), finite)) model.parameters().FailNotFinite(step);
}

void EncodeInBatches(const TextEncoder& model, std::span<const Encoding* const> encodings, std::int64_t batch_tokens,
                     const EncodedTexts& done) {
  const std::vector<std::vector<std::size_t>> groups = EqualEncodings(encodings);
  std::vector<std::size_t> sizes;
  for (const std::vector<std::size_t>& group : groups) sizes.push_back(encodings[group.front()]->ids.size());
  ForEachBatch(sizes, batch_tokens, [&](std::span<const std::size_t> which) {
    std::vector<std::int32_t> ids, types, lengths;
    for (const std::size_t group : which) {
      const Encoding& encoding = *encodings[groups[group].front()];
      ids.insert(ids.end(), encoding.ids.begin(), encoding.ids.end());
      types.insert(types.end(), encoding.type_ids.begin(), encoding.type_ids.end());
      lengths.push_back(static_cast<std::int32_t>(encoding.ids.size()));
    }
    // For a model with one token type, the tokenizer's token types are ignored.
    if (!model.reads_types()) types.clear();
    const Sequences texts = PackedSequences(lengths);
    Context context;
    const Tensor hidden = model.Encode(context, ids, types, texts);
    Sequences places;
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < which.size(); ++i) {
      const std::vector<std::size_t>& group = groups[which[i]];
      places.insert(places.end(), group.size(), texts[i]);
      members.insert(members.end(), group.begin(), group.end());
    }
    done(context, hidden, places, members);
  });
}

void EncodeInBatches(const TextEncoder& model, std::span<const Encoding> encodings, std::int64_t batch_tokens,
                     const EncodedTexts& done) {
  std::vector<const Encoding*> pointers;
  for (const Encoding& encoding : encodings) pointers.push_back(&encoding);
  EncodeInBatches(model, pointers, batch_tokens, done);
}

}  // namespace headlight
