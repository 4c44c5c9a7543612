#include "headlight/pipelines/question_answerer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/text/tokenizers/answer_spans.h"

namespace headlight {
namespace {

// Returns the best answers, including "no answer" if it is allowed. "No answer" follows answers with the same score.
std::vector<AnswerSpan> AnswersOf(const std::string& context, FoundAnswers found, const AnswerOptions& options) {
  Ensure(!found.answers.empty(), "a context without a span");
  std::ranges::stable_sort(found.answers, std::ranges::greater(), &FoundAnswer::score);
  std::vector<TextSpan> bytes;
  for (const FoundAnswer& answer : found.answers) bytes.push_back(answer.bytes);
  const std::vector<TextSpan> characters = CharacterSpans(context, bytes);
  std::vector<AnswerSpan> answers;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    answers.push_back({context.substr(static_cast<std::size_t>(bytes[i].begin),
                                      static_cast<std::size_t>(bytes[i].end - bytes[i].begin)),
                       found.answers[i].score, characters[i].begin, characters[i].end, /*found=*/true});
  if (options.may_decline) {
    AnswerSpan none;
    none.score = found.no_answer;
    answers.insert(std::ranges::upper_bound(answers, none.score, std::ranges::greater(), &AnswerSpan::score), none);
  }
  if (std::ssize(answers) > options.top_k) answers.resize(static_cast<std::size_t>(options.top_k));
  return answers;
}

}  // namespace

QuestionAnswerer QuestionAnswerer::Load(const std::string& folder, const LoadOptions& options) {
  EncoderFolder loaded = LoadEncoderFolder(folder, options, NeededHead{&TextHeadsConfig::question_spans, "answers"});
  return QuestionAnswerer(std::make_shared<EncoderFolder>(std::move(loaded)));
}

std::vector<std::vector<AnswerSpan>> QuestionAnswerer::Answer(std::span<const Question> questions,
                                                              const AnswerOptions& options) const {
  const TextEncoder& model = *loaded_->model;
  const PipelineTokenizer& tokenizer = loaded_->tokenizer;
  const std::int64_t positions = model.limits().positions;
  const std::int64_t longest = options.max_input_length.value_or(std::min(positions, kLongestAnswerWindow));
  const std::int64_t stride = options.stride.value_or(OverlapOf(longest));
  Check(options.top_k >= 1 && options.top_k <= 100, "`top_k` must be 1 to 100, not {}", options.top_k);
  Check(options.longest_answer >= 1, "`longest_answer` must be at least 1, not {}", options.longest_answer);
  Check(longest >= 1 && longest <= positions, "`max_input_length` is {}: the model reads 1 to {} tokens at once",
        longest, positions);
  Check(stride >= 0 && stride < longest, "`stride` is {}: windows of {} tokens share 0 to {}", stride, longest,
        longest - 1);
  // Transformers' pipeline merges spans with the same words into one answer, so more spans are needed.
  const AnswerSearch search = {.longest = options.longest_answer,
                               .spans = options.align_words ? kMostSpans + 2 * (options.top_k - 1) : options.top_k,
                               .whole_words = options.align_words};
  std::vector<PassageWindows> cut;
  std::vector<const Window*> windows;
  std::vector<std::size_t> question_of;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    CheckText(questions[i].question, options.name_of, i);
    CheckText(questions[i].context, options.name_of, i);
    cut.push_back(CutPassage(tokenizer, questions[i].question, questions[i].context, longest, stride,
                             NameOf(options.name_of, i)));
    const std::int64_t others = std::ssize(cut[i].encoding.ids) - std::ranges::count(cut[i].encoding.texts, 1);
    Check(!options.stride || cut[i].windows.size() == 1 || stride < longest - others,
          "{}: `stride` is {}: with the {} tokens of this question, windows of {} share 0 to {}",
          NameOf(options.name_of, i), stride, others, longest, longest - others - 1);
  }
  for (std::size_t i = 0; i < questions.size(); ++i)
    for (const Window& window : cut[i].windows) {
      windows.push_back(&window);
      question_of.push_back(i);
    }
  std::vector<const Encoding*> inputs;
  for (const Window* window : windows) inputs.push_back(&window->encoding);
  std::vector<FoundAnswers> found(windows.size());  // by window, because batches finish in any order
  const auto look = [&](Context& context, const Tensor& hidden, const Sequences& places,
                        std::span<const std::size_t> which) {
    const Tensor logits = model.SpanLogits(context, hidden);
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Tensor own = logits.ViewRows(places[i].begin, places[i].length);
      CheckFinite(own, model, "answering " + NameOf(options.name_of, question_of[which[i]]));
      found[which[i]] =
          BestAnswers(own.matrix<float>(), *windows[which[i]], questions[question_of[which[i]]].context, search);
    }
  };
  EncodeInBatches(model, inputs, options.batch_tokens, look);

  std::vector<FoundAnswers> best(questions.size());
  for (std::size_t i = 0; i < windows.size(); ++i)
    best[question_of[i]].Add(questions[question_of[i]].context, found[i]);
  std::vector<std::vector<AnswerSpan>> answers;
  for (std::size_t i = 0; i < questions.size(); ++i)
    answers.push_back(AnswersOf(questions[i].context, std::move(best[i]), options));
  return answers;
}

}  // namespace headlight
