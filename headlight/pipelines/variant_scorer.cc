#include "headlight/pipelines/variant_scorer.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/ops/embedding.h"
#include "headlight/pipelines/encoder_folder.h"

namespace headlight {
namespace {

bool IsResidue(char letter) { return letter >= 'A' && letter <= 'Z'; }

}  // namespace

std::vector<Substitution> ParseVariant(std::string_view variant) {
  std::vector<Substitution> substitutions;
  for (std::string_view rest = variant; substitutions.empty() || !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string_view one = rest.substr(0, end);
    Substitution found;
    bool right = one.size() >= 3 && IsResidue(one.front()) && IsResidue(one.back()) &&
                 (end == rest.size() || end + 1 < rest.size());
    if (right) {
      const char* const last = one.data() + one.size() - 1;
      const auto [stop, error] = std::from_chars(one.data() + 1, last, found.position);
      right = error == std::errc() && stop == last && found.position >= 1;
    }
    Check(right,
          "variant {}: a substitution is a residue, its position and another residue, such as A45G; several are "
          "joined by colons",
          Quoted(std::string(variant)));
    found.from = one.front();
    found.to = one.back();
    Check(std::ranges::find(substitutions, found.position, &Substitution::position) == substitutions.end(),
          "variant {}: residue {} is substituted twice", variant, found.position);
    substitutions.push_back(found);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return substitutions;
}

struct VariantScorer::State {
  EncoderFolder loaded;
  std::int32_t mask_id;
};

VariantScorer VariantScorer::Load(const std::string& folder, const LoadOptions& options) {
  EncoderFolder loaded = LoadEncoderFolder(folder, options, NeededHead{&TextHeadsConfig::masked_words, "masked words"});
  const std::optional<std::int32_t> mask = loaded.tokenizer.FindSpecial("<mask>");
  Check(mask.has_value(), "{}: the tokenizer has no <mask>, as ESM's has", folder);
  EncodeResidues(loaded, "A", folder);  // rejects tokenizers whose tokens are not residues
  return VariantScorer(std::make_shared<State>(State{std::move(loaded), *mask}));
}

std::vector<VariantScore> VariantScorer::Score(std::string_view letters, std::span<const std::string> variants,
                                               const std::string& name, std::int64_t batch_tokens, bool joint) const {
  const EncoderFolder& loaded = state_->loaded;
  const Encoding encoding = EncodeResidues(loaded, letters, name);
  // Positions of residues, counted from 1. These positions are also token indices, since one special token precedes the
  // residues.
  using Positions = std::vector<std::int64_t>;
  std::vector<std::vector<Substitution>> all;
  std::map<Positions, std::size_t> encoding_of;  // index of the encoding with these masked positions
  std::vector<Encoding> masked;
  std::vector<Positions> positions;  // masked positions of each encoding
  const auto mask = [&](const Positions& at) {
    if (!encoding_of.try_emplace(at, masked.size()).second) return;
    masked.push_back(encoding);
    for (const std::int64_t position : at) masked.back().ids[static_cast<std::size_t>(position)] = state_->mask_id;
    positions.push_back(at);
  };
  const auto positions_of = [](const std::vector<Substitution>& variant) {
    Positions at;
    for (const Substitution& one : variant) at.push_back(one.position);
    return at;
  };
  for (const std::string& variant : variants) {
    all.push_back(ParseVariant(variant));
    for (const auto& [from, to, position] : all.back()) {
      Check(position <= std::ssize(letters), "{}: variant {}: there are {} residues", name, variant, letters.size());
      const char letter = letters[static_cast<std::size_t>(position) - 1];
      Check(letter == from, "{}: variant {}: residue {} is {}, not {}", name, variant, position, letter, from);
      TokenOfResidue(loaded, to, name);
      if (!joint) mask({position});
    }
    if (joint) mask(positions_of(all.back()));
  }

  std::vector<std::vector<float>> logits(masked.size());  // [masks, vocabulary]
  EncodeInBatches(
      *loaded.model, masked, batch_tokens,
      [&](Context& context, const Tensor& hidden, const Sequences& texts, std::span<const std::size_t> which) {
        std::vector<std::int32_t> rows;
        for (std::size_t i = 0; i < which.size(); ++i)
          for (const std::int64_t position : positions[which[i]])
            rows.push_back(texts[i].begin + static_cast<std::int32_t>(position));
        const Tensor found = loaded.model->MaskedTokenLogits(context, ops::Embedding(hidden, rows));
        CheckFinite(found, *loaded.model, "scoring " + name);
        std::int64_t row = 0;
        for (const std::size_t index : which) {
          const std::int64_t masks = std::ssize(positions[index]);
          logits[index] = found.ViewRows(row, masks).ToVector<float>();
          row += masks;
        }
      });
  std::vector<VariantScore> scores;
  for (std::size_t v = 0; v < all.size(); ++v) {
    const std::vector<Substitution>& variant = all[v];
    double score = 0;
    const Positions at = positions_of(variant);
    for (std::size_t i = 0; i < variant.size(); ++i) {
      const std::vector<float>& own = logits[encoding_of.at(joint ? at : Positions{variant[i].position})];
      const std::size_t row = joint ? own.size() / variant.size() * i : 0;
      const auto logit = [&](char letter) {
        return double{own[row + static_cast<std::size_t>(TokenOfResidue(loaded, letter, name))]};
      };
      score += logit(variant[i].to) - logit(variant[i].from);
    }
    scores.push_back({variants[v], score});
  }
  return scores;
}

}  // namespace headlight
