#include "headlight/tasks/tagger.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/ops/softmax.h"
#include "headlight/tasks/encoder_folder.h"
#include "headlight/text/metrics/entities.h"
#include "headlight/text/tokenizers/windows.h"

namespace headlight {
namespace {

struct TokenLabel {
  std::int32_t label = -1;  // none where the token is a special one
  float probability = 0;
};

std::vector<NamedSpan> Merge(const std::string& text, const Encoding& encoding, const std::vector<TokenLabel>& tokens,
                             const std::vector<std::string>& labels) {
  std::vector<NamedSpan> spans;
  std::vector<TextSpan> bytes;
  std::vector<int> counts;
  std::optional<std::string_view> before;  // the name of the token before
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].label < 0) continue;
    const std::string& label = labels[static_cast<std::size_t>(tokens[i].label)];
    const auto [begins, name] = MeaningOfTag(label);
    const bool none = label == "O", goes_on = !begins && before == name;
    before = none ? std::nullopt : std::optional(name);
    if (none) continue;
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

Tagger Tagger::Load(const std::string& folder, const LoadOptions& options) {
  EncoderFolder loaded =
      LoadEncoderFolder(folder, options, NeededHead{&TextHeadsConfig::token_classes, "classes of tokens"});
  return Tagger(std::make_shared<EncoderFolder>(std::move(loaded)));
}

std::vector<std::vector<NamedSpan>> Tagger::Tag(std::span<const std::string> texts, const TagOptions& options) const {
  const TextEncoder& model = *loaded_->model;
  const PipelineTokenizer& tokenizer = loaded_->tokenizer;
  const std::int64_t longest = model.limits().positions;
  std::vector<Encoding> encodings;
  std::vector<Window> windows;
  std::vector<std::size_t> text_of, first_of;  // each window's text, and that text's first window
  std::vector<std::vector<std::int32_t>> window_of(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CheckText(texts[i], options.name_of, i);
    encodings.push_back(tokenizer.Encode(texts[i], {.read_special = false}));
    if (encodings[i].ids.empty()) continue;
    const std::vector<Window> of_text = SlidingWindows(encodings[i], 0, longest, longest / 4);
    window_of[i] = WindowOfEachToken(of_text);
    text_of.insert(text_of.end(), of_text.size(), i);
    first_of.insert(first_of.end(), of_text.size(), windows.size());
    windows.insert(windows.end(), of_text.begin(), of_text.end());
  }
  std::vector<std::vector<TokenLabel>> tokens;
  for (const Encoding& encoding : encodings) tokens.emplace_back(encoding.ids.size());
  std::vector<const Encoding*> inputs;
  for (const Window& window : windows) inputs.push_back(&window.encoding);

  const auto label = [&](Context& context, const Tensor& hidden, const Sequences& places,
                         std::span<const std::size_t> which) {
    const Tensor probabilities = ops::Softmax(model.TokenClassLogits(context, hidden));
    for (std::size_t i = 0; i < which.size(); ++i) {
      CheckFinite(probabilities.ViewRows(places[i].begin, places[i].length), model,
                  "tagging " + NameOf(options.name_of, text_of[which[i]]));
      const Window& window = windows[which[i]];
      const std::size_t text = text_of[which[i]], number = which[i] - first_of[which[i]];
      const std::int32_t first = windows[first_of[which[i]]].begin;
      for (std::int32_t token = 0; token < window.count; ++token) {
        const std::int32_t place = window.begin + token;
        if (window_of[text][static_cast<std::size_t>(place - first)] != static_cast<std::int32_t>(number)) continue;
        const float* const row = probabilities.matrix<float>().row(places[i].begin + window.first + token);
        const float* const most = std::max_element(row, row + probabilities.columns());
        tokens[text][static_cast<std::size_t>(place)] = {static_cast<std::int32_t>(most - row), *most};
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
