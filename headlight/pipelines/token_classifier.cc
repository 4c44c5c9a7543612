#include "headlight/pipelines/token_classifier.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/ops/softmax.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/text/metrics/entities.h"
#include "headlight/text/tokenizers/windows.h"

namespace headlight {
namespace {

struct TokenLabel {
  std::int32_t label = -1;  // -1 for special tokens
  float probability = 0;
};

// A word or token with its label.
struct Labeled {
  TextSpan bytes;
  TokenLabel label;
};

TokenLabel MostProbable(std::span<const float> probabilities) {
  const auto most = std::ranges::max_element(probabilities);
  return {static_cast<std::int32_t>(most - probabilities.begin()), *most};
}

// Returns the label of the word with the tokens [begin, end). `probabilities`, [tokens of the text, labels], is only
// used for `average`.
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

// The tokens of one model input: a text or a window of it.
struct Reading {
  std::size_t text;  // index of the text
  const Encoding* encoding;
  std::vector<TokenLabel> tokens;
  std::vector<float> all;  // [tokens, labels]; only if more than the most probable label is needed
};

// Returns the words with their labels, or the tokens if there is no aggregation.
std::vector<Labeled> LabeledWords(const PipelineTokenizer& tokenizer, std::string_view text, const Reading& reading,
                                  TagAggregation aggregation) {
  const Encoding& encoding = *reading.encoding;
  const std::span<const TokenLabel> tokens = reading.tokens;
  std::vector<Labeled> words;
  for (std::size_t begin = 0, end; begin < tokens.size(); begin = end) {
    end = begin + 1;
    if (tokens[begin].label < 0) continue;
    const auto continues = [&](std::size_t token) {
      return tokens[token].label >= 0 && tokenizer.ContinuesWord(text, encoding.ids[token], encoding.spans[token]);
    };
    if (aggregation != TagAggregation::simple)
      while (end < tokens.size() && continues(end)) ++end;
    words.push_back({{encoding.spans[begin].begin, encoding.spans[end - 1].end},
                     LabelOfWord(tokens, begin, end, aggregation, reading.all)});
  }
  return words;
}

// Sets the texts of the spans and their positions in characters.
void SetPlaces(const std::string& text, std::vector<TextSpan> bytes, std::vector<NamedSpan>& spans) {
  for (TextSpan& span : bytes) span = WithoutSpaces(text, span);
  const std::vector<TextSpan> characters = CharacterSpans(text, bytes);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i].start = characters[i].begin;
    spans[i].end = characters[i].end;
    spans[i].text = text.substr(bytes[i].begin, bytes[i].end - bytes[i].begin);
  }
}

std::vector<NamedSpan> Merge(const std::string& text, const std::vector<Labeled>& words,
                             const std::vector<std::string>& labels) {
  std::vector<NamedSpan> spans;
  std::vector<TextSpan> bytes;
  std::vector<int> counts;
  std::optional<std::string_view> before;  // the kind of the previous word
  for (const auto& [span, token] : words) {
    const std::string& label = labels[static_cast<std::size_t>(token.label)];
    const auto [begins, ends, name] = MeaningOfTag(label);
    const std::string_view kind = ends ? std::string_view(label) : name;  // S-X and E-X only continue the same label
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
  for (std::size_t i = 0; i < spans.size(); ++i) spans[i].score /= static_cast<float>(counts[i]);
  SetPlaces(text, std::move(bytes), spans);
  return spans;
}

// Returns one span, or `top_k` spans, per token.
std::vector<NamedSpan> TokensAlone(const std::string& text, const Reading& reading,
                                   const std::vector<std::string>& labels, std::optional<std::int64_t> top_k) {
  std::vector<NamedSpan> spans;
  std::vector<TextSpan> bytes;
  const auto add = [&](std::size_t token, std::size_t label, float score) {
    spans.emplace_back();
    spans.back().label = labels[label];
    spans.back().score = score;
    bytes.push_back(reading.encoding->spans[token]);
  };
  std::vector<std::size_t> order(labels.size());
  for (std::size_t token = 0; token < reading.tokens.size(); ++token) {
    const auto [label, probability] = reading.tokens[token];
    if (label < 0) continue;
    if (!top_k) {
      const auto best = static_cast<std::size_t>(label);
      if (labels[best] != "O") add(token, best, probability);
      continue;
    }
    const std::span probabilities = std::span(reading.all).subspan(token * labels.size(), labels.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t one) { return probabilities[one]; });
    for (std::size_t i = 0; i < labels.size() && std::cmp_less(i, *top_k); ++i)
      add(token, order[i], probabilities[order[i]]);
  }
  SetPlaces(text, std::move(bytes), spans);
  return spans;
}

// Keeps the longest of overlapping spans. Among equally long spans, the span with the highest score is kept.
std::vector<NamedSpan> WithoutOverlaps(std::vector<NamedSpan> spans) {
  std::ranges::stable_sort(spans, {}, &NamedSpan::start);
  std::vector<NamedSpan> kept;
  for (NamedSpan& span : spans) {
    if (kept.empty() || span.start >= kept.back().end) {
      kept.push_back(std::move(span));
      continue;
    }
    const std::int32_t length = span.end - span.start, before = kept.back().end - kept.back().start;
    if (length > before || (length == before && span.score > kept.back().score)) kept.back() = std::move(span);
  }
  return kept;
}

// Throws Error for invalid options. `special` is the number of special tokens in each window.
void CheckOptions(const TagOptions& options, TagAggregation aggregation, std::int64_t positions, std::int64_t special) {
  const std::int64_t longest = options.max_input_length.value_or(positions), stride = options.stride.value_or(0);
  Check(longest >= 1 && longest <= positions, "`max_input_length` is {}: the model reads 1 to {} tokens at once",
        longest, positions);
  const std::int64_t most_shared = std::max<std::int64_t>(longest - special - 1, 0);
  Check(stride >= 0 && stride <= most_shared,
        "`stride` is {}: windows of {} tokens, of which {} are special, share 0 to {}", stride, longest, special,
        most_shared);
  Check(!options.stride || aggregation != TagAggregation::none,
        "`stride` is for aggregated labels: without it each token has the label of one window");
  Check(!options.top_k || aggregation == TagAggregation::none,
        "`top_k` is for tokens without aggregation: a span has one label");
  Check(options.top_k.value_or(1) >= 1, "`top_k` must be at least 1, not {}", options.top_k.value_or(1));
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
  const std::vector<std::string>& labels = model.heads().labels;
  const TagAggregation aggregation = options.aggregation.value_or(
      std::ranges::any_of(labels, [](const std::string& label) { return MeaningOfTag(label).ends; })
          ? TagAggregation::simple
          : TagAggregation::first);
  CheckOptions(options, aggregation, model.limits().positions,
               std::ssize(tokenizer.Encode("", {.read_special = false}).ids));
  const std::int64_t longest = options.max_input_length.value_or(model.limits().positions);
  const bool each_window = options.stride.has_value();  // each window is a separate Reading
  std::vector<Encoding> encodings;
  std::vector<Window> windows;
  std::vector<std::size_t> text_of, first_of;  // the text of each window, and the first window of that text
  std::vector<std::vector<std::int32_t>> window_of(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CheckText(texts[i], options.name_of, i);
    encodings.push_back(tokenizer.Encode(texts[i], {.read_special = false}));
    if (encodings[i].ids.empty()) continue;
    const std::vector<Window> of_text = SlidingWindows(encodings[i], 0, longest, options.stride.value_or(longest / 4));
    window_of[i] = WindowOfEachToken(of_text);
    text_of.insert(text_of.end(), of_text.size(), i);
    first_of.insert(first_of.end(), of_text.size(), windows.size());
    windows.insert(windows.end(), of_text.begin(), of_text.end());
  }
  const bool keeps_all = aggregation == TagAggregation::average || options.top_k;
  std::vector<Reading> readings;
  const auto add_reading = [&](std::size_t text, const Encoding& encoding) {
    readings.push_back({text, &encoding, std::vector<TokenLabel>(encoding.ids.size()), {}});
    if (keeps_all) readings.back().all.resize(encoding.ids.size() * labels.size());
  };
  if (each_window)
    for (std::size_t i = 0; i < windows.size(); ++i) add_reading(text_of[i], windows[i].encoding);
  else
    for (std::size_t i = 0; i < texts.size(); ++i) add_reading(i, encodings[i]);
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
      Reading& reading = readings[each_window ? which[i] : text];
      for (std::int32_t token = 0; token < window.count; ++token) {
        const std::int32_t index = window.begin + token;
        if (!each_window &&
            window_of[text][static_cast<std::size_t>(index - first)] != static_cast<std::int32_t>(number))
          continue;
        const std::span row(probabilities.matrix<float>().row(places[i].begin + window.first + token), labels.size());
        const auto at = static_cast<std::size_t>(each_window ? window.first + token : index);
        reading.tokens[at] = MostProbable(row);
        if (keeps_all) std::ranges::copy(row, reading.all.begin() + static_cast<std::ptrdiff_t>(at * labels.size()));
      }
    }
  };
  EncodeInBatches(model, inputs, options.batch_tokens, label);
  std::vector<std::vector<NamedSpan>> spans(texts.size());
  for (const Reading& reading : readings) {
    const std::string& text = texts[reading.text];
    std::vector<NamedSpan> found = aggregation == TagAggregation::none
                                       ? TokensAlone(text, reading, labels, options.top_k)
                                       : Merge(text, LabeledWords(tokenizer, text, reading, aggregation), labels);
    std::ranges::move(found, std::back_inserter(spans[reading.text]));
  }
  if (each_window)
    for (std::vector<NamedSpan>& of_text : spans) of_text = WithoutOverlaps(std::move(of_text));
  return spans;
}

}  // namespace headlight
