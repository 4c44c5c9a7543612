#include "headlight/serve/tagger.h"

#include <algorithm>
#include <limits>

#include "headlight/base/error.h"
#include "headlight/ops/softmax.h"
#include "headlight/serve/encoder_folder.h"

namespace headlight {
namespace {

struct TokenLabel {
  std::int32_t label = -1;  // none where the token is a special one
  float probability = 0;
  std::int64_t from_edge = -1;  // tokens to the nearer edge of the window that it was read in
};

// What a label says: that a span begins, and what of.
struct Meaning {
  bool begins = false;
  std::string_view name;
};

Meaning MeaningOf(std::string_view label) {
  const bool prefixed = label.starts_with("B-") || label.starts_with("I-");
  return {label.starts_with("B-"), prefixed ? label.substr(2) : label};
}

std::vector<NamedSpan> Merge(const std::string& text, const Encoding& encoding, const std::vector<TokenLabel>& tokens,
                             const std::vector<std::string>& labels) {
  std::vector<NamedSpan> spans;
  std::vector<TextSpan> bytes;
  std::vector<int> counts;
  std::string_view before;  // the name of the token before
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].label < 0) continue;
    const auto [begins, name] = MeaningOf(labels[static_cast<std::size_t>(tokens[i].label)]);
    const bool goes_on = !begins && name == before;
    before = name;
    if (name == "O") continue;
    if (!goes_on) {
      spans.emplace_back().label = name;
      bytes.push_back(encoding.spans[i]);
      counts.push_back(0);
    }
    bytes.back().end = encoding.spans[i].end;
    spans.back().score += tokens[i].probability;
    ++counts.back();
  }
  for (TextSpan& span : bytes) span = WithoutSpaces(text, span);
  const std::vector<TextSpan> characters = CharacterSpans(text, bytes);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i].begin = characters[i].begin;
    spans[i].end = characters[i].end;
    spans[i].score /= static_cast<float>(counts[i]);
    spans[i].text = text.substr(bytes[i].begin, bytes[i].end - bytes[i].begin);
  }
  return spans;
}

}  // namespace

struct Tagger::State {
  EncoderFolder loaded;
};

Tagger Tagger::Load(const std::string& folder, std::optional<kernels::Compute> compute) {
  EncoderFolder loaded = LoadEncoderFolder(folder, compute);
  Check(loaded.model->heads().token_classes, "{}: the model has no head for classes of tokens", folder);
  return Tagger(std::make_shared<State>(State{std::move(loaded)}));
}

std::vector<std::vector<NamedSpan>> Tagger::Tag(std::span<const std::string> texts, const TagOptions& options) const {
  const TextEncoder& model = *state_->loaded.model;
  const TokenizerPipeline& tokenizer = state_->loaded.tokenizer;
  const std::int64_t longest = model.limits().positions;
  std::vector<Encoding> encodings;
  std::vector<Window> windows;
  std::vector<std::size_t> text_of;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    encodings.push_back(tokenizer.Encode(texts[i], {.read_special = false}));
    if (encodings[i].ids.empty()) continue;
    for (Window& window : SlidingWindows(encodings[i], 0, longest, longest / 4)) {
      windows.push_back(std::move(window));
      text_of.push_back(i);
    }
  }
  std::vector<std::vector<TokenLabel>> tokens;
  for (const Encoding& encoding : encodings) tokens.emplace_back(encoding.ids.size());
  std::vector<const Encoding*> inputs;
  for (const Window& window : windows) inputs.push_back(&window.encoding);

  const auto label = [&](Context& context, const Tensor& hidden, const Sequences& places,
                         std::span<const std::size_t> which) {
    const Tensor probabilities = ops::Softmax(model.TokenClassLogits(context, hidden));
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Window& window = windows[which[i]];
      std::vector<TokenLabel>& of_text = tokens[text_of[which[i]]];
      // At the text's own ends nothing is missing.
      const bool starts_text = window.begin == window.first;
      const bool ends_text = which[i] + 1 == windows.size() || text_of[which[i] + 1] != text_of[which[i]];
      constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
      for (std::int32_t token = 0; token < window.count; ++token) {
        const std::int64_t from_edge =
            std::min(starts_text ? far : token, ends_text ? far : std::int64_t{window.count} - 1 - token);
        TokenLabel& best = of_text[static_cast<std::size_t>(window.begin + token)];
        if (from_edge <= best.from_edge) continue;
        const float* const row = probabilities.matrix<float>().row(places[i].begin + window.first + token);
        const float* const most = std::max_element(row, row + probabilities.columns());
        best = {static_cast<std::int32_t>(most - row), *most, from_edge};
      }
    }
  };
  EncodeInBatches(model, inputs, options.batch_tokens, label);
  std::vector<std::vector<NamedSpan>> spans;
  for (std::size_t i = 0; i < texts.size(); ++i)
    spans.push_back(Merge(texts[i], encodings[i], tokens[i], model.heads().labels));
  return spans;
}

}  // namespace headlight
