#include "headlight/pipelines/token_classifier.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/ops/softmax.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/text/metrics/entities.h"
#include "headlight/text/tokenizers/windows.h"

namespace headlight {
namespace {

struct TokenLabel {
  std::int32_t label = -1;  // none where the token is a special one
  float probability = 0;
};

// A word or token with its label.
struct Labelled {
  TextSpan bytes;
  TokenLabel label;
};

TokenLabel MostProbable(std::span<const float> probabilities) {
  const auto most = std::ranges::max_element(probabilities);
  return {static_cast<std::int32_t>(most - probabilities.begin()), *most};
}

// The label of a word of the tokens [begin, end). `probabilities`: [tokens of the text, labels], for `average` alone.
TokenLabel LabelOfWord(std::span<const TokenLabel> tokens, std::size_t begin, std::size_t end,
                       TagAggregation aggregation, std::span<const float> probabilities) {
  if (aggregation == TagAggregation::max)
    return *std::ranges::max_element(tokens.subspan(begin, end - begin), {}, &TokenLabel::probability);
  if (aggregation != TagAggregation::average) return tokens[begin];
  const std::size_t labels = probabilities.size() / tokens.size();
  std::vector<float> mean(labels);
  for (std::size_t token = begin; token < end; ++token)
    for (std::size_t label = 0; label < labels; ++label) mean[label] += probabilities[token * labels + label];
  for (float& probability : mean) probability /= static_cast<float>(end - begin);
  return MostProbable(mean);
}

// A text's words with their labels, or tokens if the labels are not aggregated.
std::vector<Labelled> LabelledWords(const PipelineTokenizer& tokenizer, std::string_view text, const Encoding& encoding,
                                    std::span<const TokenLabel> tokens, TagAggregation aggregation,
                                    std::span<const float> probabilities) {
  std::vector<Labelled> words;
  for (std::size_t begin = 0, end; begin < tokens.size(); begin = end) {
    end = begin + 1;
    if (tokens[begin].label < 0) continue;
    const auto continues = [&](std::size_t token) {
      return tokens[token].label >= 0 && tokenizer.ContinuesWord(text, encoding.ids[token], encoding.spans[token]);
    };
    if (aggregation != TagAggregation::simple)
      while (end < tokens.size() && continues(end)) ++end;
    words.push_back({{encoding.spans[begin].begin, encoding.spans[end - 1].end},
                     LabelOfWord(tokens, begin, end, aggregation, probabilities)});
  }
  return words;
}

std::vector<NamedSpan> Merge(const std::string& text, const std::vector<Labelled>& words,
                             const std::vector<std::string>& labels) {
  std::vector<NamedSpan> spans;
  std::vector<TextSpan> bytes;
  std::vector<int> counts;
  std::optional<std::string_view> before;  // the kind of the word before
  for (const auto& [span, token] : words) {
    const std::string& label = labels[static_cast<std::size_t>(token.label)];
    const auto [begins, ends, name] = MeaningOfTag(label);
    const std::string_view kind = ends ? std::string_view(label) : name;  // S-X and E-X continue only themselves
    const bool none = label == "O", goes_on = (!begins || ends) && before == kind;
    before = none ? std::nullopt : std::optional(kind);
    if (none) continue;
    if (!goes_on) {
      spans.emplace_back().label = name;
      bytes.push_back(span);
      counts.push_back(0);
    }
    bytes.back().end = span.end;
    spans.back().score += token.probability;
    ++counts.back();
  }
  for (TextSpan& span : bytes) span = WithoutSpaces(text, span);
  const std::vector<TextSpan> characters = CharacterSpans(text, bytes);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i].start = characters[i].begin;
    spans[i].end = characters[i].end;
    spans[i].score /= static_cast<float>(counts[i]);
    spans[i].text = text.substr(bytes[i].begin, bytes[i].end - bytes[i].begin);
  }
  return spans;
}

}  // namespace

TokenClassifier TokenClassifier::Load(const std::string& folder, const LoadOptions& options) {
  EncoderFolder loaded =
      LoadEncoderFolder(folder, options, NeededHead{&TextHeadsConfig::token_classes, "classes of tokens"});
  return TokenClassifier(std::make_shared<EncoderFolder>(std::move(loaded)));
}

std::vector<std::vector<NamedSpan>> TokenClassifier::Tag(std::span<const std::string> texts,
                                                         const TagOptions& options) const {
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
  const std::vector<std::string>& labels = model.heads().labels;
  const TagAggregation aggregation = options.aggregation.value_or(
      std::ranges::any_of(labels, [](const std::string& label) { return MeaningOfTag(label).ends; })
          ? TagAggregation::simple
          : TagAggregation::first);
  std::vector<std::vector<TokenLabel>> tokens;
  std::vector<std::vector<float>> all(texts.size());  // of each text, for `average`
  for (std::size_t i = 0; i < texts.size(); ++i) {
    tokens.emplace_back(encodings[i].ids.size());
    if (aggregation == TagAggregation::average) all[i].resize(encodings[i].ids.size() * labels.size());
  }
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
        const std::span row(probabilities.matrix<float>().row(places[i].begin + window.first + token), labels.size());
        const auto at = static_cast<std::size_t>(place);
        tokens[text][at] = MostProbable(row);
        if (aggregation == TagAggregation::average)
          std::ranges::copy(row, all[text].begin() + static_cast<std::ptrdiff_t>(at * labels.size()));
      }
    }
  };
  EncodeInBatches(model, inputs, options.batch_tokens, label);
  std::vector<std::vector<NamedSpan>> spans;
  for (std::size_t i = 0; i < texts.size(); ++i)
    spans.push_back(
        Merge(texts[i], LabelledWords(tokenizer, texts[i], encodings[i], tokens[i], aggregation, all[i]), labels));
  return spans;
}

}  // namespace headlight
