#include "headlight/serve/answerer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headlight/base/error.h"
#include "headlight/serve/encoder_folder.h"

namespace headlight {
namespace {

constexpr std::int64_t kLongestWindow = 384;  // what published models were mostly trained with

// A window's best span, in its own tokens.
struct BestSpan {
  float score = -1;  // there is none
  std::int32_t begin = 0, last = 0;
  float null_score = 0;
};

// logits [tokens of the window, 2]: an answer begins, ends there.
BestSpan BestOf(const Matrix<float>& logits, const Window& window, std::int64_t longest_answer) {
  // The first token stands for no answer, unless it is the passage's own.
  const bool has_null = window.first > 0 && window.encoding.texts.front() < 0;
  std::vector<float> probabilities[2];
  for (int side = 0; side < 2; ++side) {
    std::vector<float>& p = probabilities[side];
    if (has_null) p.push_back(logits.row(0)[side]);
    for (std::int32_t token = 0; token < window.count; ++token) p.push_back(logits.row(window.first + token)[side]);
    const float most = *std::ranges::max_element(p);
    float sum = 0;
    for (float& x : p) sum += x = std::exp(x - most);
    for (float& x : p) x /= sum;
  }
  BestSpan best;
  const std::int32_t first = has_null ? 1 : 0, tokens = first + window.count;
  if (has_null) best.null_score = probabilities[0][0] * probabilities[1][0];
  for (std::int32_t begin = first; begin < tokens; ++begin)
    for (std::int32_t last = begin; last < std::min<std::int64_t>(tokens, begin + longest_answer); ++last) {
      const float score =
          probabilities[0][static_cast<std::size_t>(begin)] * probabilities[1][static_cast<std::size_t>(last)];
      if (score > best.score) best = {score, begin - first, last - first, best.null_score};
    }
  return best;
}

}  // namespace

struct Answerer::State {
  EncoderFolder loaded;
};

Answerer Answerer::Load(const std::string& folder, std::optional<kernels::Compute> compute) {
  EncoderFolder loaded = LoadEncoderFolder(folder, compute);
  Check(loaded.model->heads().question_spans, "{}: the model has no head for answers", folder);
  return Answerer(std::make_shared<State>(State{std::move(loaded)}));
}

std::vector<Answer> Answerer::Ask(std::span<const Question> questions, const AnswerOptions& options) const {
  const TextEncoder& model = *state_->loaded.model;
  const TokenizerPipeline& tokenizer = state_->loaded.tokenizer;
  Check(options.longest_answer >= 1, "longest_answer must be at least 1, not {}", options.longest_answer);
  Check(options.overlap >= 0, "overlap must not be negative, not {}", options.overlap);
  const std::int64_t longest = std::min(model.limits().positions, kLongestWindow);
  std::vector<Encoding> encodings;
  std::vector<Window> windows;
  std::vector<std::size_t> question_of;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const std::string name = NameOf(options.name_of, i);
    encodings.push_back(tokenizer.EncodePair(questions[i].question, questions[i].passage, {.read_special = false}));
    const std::int64_t passage = std::ranges::count(encodings[i].texts, 1);
    Check(passage > 0, "{}: the passage has no tokens", name);
    Check(std::ssize(encodings[i].ids) - passage < longest,
          "{}: the question has {} tokens with the special ones, and with the passage the model reads {} at once", name,
          std::ssize(encodings[i].ids) - passage, longest);
    for (Window& window : SlidingWindows(encodings[i], 1, longest, std::min(options.overlap, longest / 2))) {
      windows.push_back(std::move(window));
      question_of.push_back(i);
    }
  }
  std::vector<const Encoding*> inputs;
  for (const Window& window : windows) inputs.push_back(&window.encoding);
  std::vector<BestSpan> found(windows.size());
  const auto look = [&](Context& context, const Tensor& hidden, const Sequences& places,
                        std::span<const std::size_t> which) {
    const Tensor logits = model.SpanLogits(context, hidden);
    for (std::size_t i = 0; i < which.size(); ++i)
      found[which[i]] = BestOf(logits.ViewRows(places[i].begin, places[i].length).matrix<float>(), windows[which[i]],
                               options.longest_answer);
  };
  EncodeInBatches(model, inputs, options.batch_tokens, look);

  std::vector<Answer> answers(questions.size());
  std::vector<float> null_scores(questions.size(), std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::size_t question = question_of[i];
    Answer& answer = answers[question];
    null_scores[question] = std::min(null_scores[question], found[i].null_score);
    if (answer.found && found[i].score <= answer.score) continue;
    const std::string& passage = questions[question].passage;
    const auto token = [&](std::int32_t in_window) {
      return encodings[question].spans[static_cast<std::size_t>(windows[i].begin + in_window)];
    };
    const TextSpan span = WithoutSpaces(passage, {token(found[i].begin).begin, token(found[i].last).end});
    const TextSpan characters = CharacterSpans(passage, {&span, 1}).front();
    answer = {true, found[i].score, characters.begin, characters.end,
              passage.substr(span.begin, span.end - span.begin)};
  }
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (options.may_decline && null_scores[i] > answers[i].score) answers[i] = {false, null_scores[i], 0, 0, ""};
  return answers;
}

}  // namespace headlight
