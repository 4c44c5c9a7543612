#include "headlight/pipelines/question_answerer.h"

#include "headlight/base/error.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/text/tokenizers/answer_spans.h"

namespace headlight {

QuestionAnswerer QuestionAnswerer::Load(const std::string& folder, const LoadOptions& options) {
  EncoderFolder loaded = LoadEncoderFolder(folder, options, NeededHead{&TextHeadsConfig::question_spans, "answers"});
  return QuestionAnswerer(std::make_shared<EncoderFolder>(std::move(loaded)));
}

std::vector<AnswerSpan> QuestionAnswerer::Answer(std::span<const Question> questions,
                                                 const AnswerOptions& options) const {
  const TextEncoder& model = *loaded_->model;
  const PipelineTokenizer& tokenizer = loaded_->tokenizer;
  Check(options.longest_answer >= 1, "`longest_answer` must be at least 1, not {}", options.longest_answer);
  Check(options.overlap >= 0, "`overlap` must not be negative, not {}", options.overlap);
  std::vector<PassageWindows> cut;
  std::vector<const Window*> windows;
  std::vector<std::size_t> question_of;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    CheckText(questions[i].question, options.name_of, i);
    CheckText(questions[i].context, options.name_of, i);
    cut.push_back(CutPassage(tokenizer, questions[i].question, questions[i].context, model.limits().positions,
                             options.overlap, NameOf(options.name_of, i)));
  }
  for (std::size_t i = 0; i < questions.size(); ++i)
    for (const Window& window : cut[i].windows) {
      windows.push_back(&window);
      question_of.push_back(i);
    }
  std::vector<const Encoding*> inputs;
  for (const Window* window : windows) inputs.push_back(&window->encoding);
  std::vector<FoundAnswers> found(windows.size());  // each alone: they come in any order
  const auto look = [&](Context& context, const Tensor& hidden, const Sequences& places,
                        std::span<const std::size_t> which) {
    const Tensor logits = model.SpanLogits(context, hidden);
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Tensor own = logits.ViewRows(places[i].begin, places[i].length);
      CheckFinite(own, model, "answering " + NameOf(options.name_of, question_of[which[i]]));
      found[which[i]] = BestAnswers(own.matrix<float>(), *windows[which[i]], questions[question_of[which[i]]].context,
                                    options.longest_answer);
    }
  };
  EncodeInBatches(model, inputs, options.batch_tokens, look);

  std::vector<FoundAnswers> best(questions.size());
  for (std::size_t i = 0; i < windows.size(); ++i)
    best[question_of[i]].Add(questions[question_of[i]].context, found[i]);
  std::vector<AnswerSpan> answers(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (options.may_decline && best[i].declines()) {
      answers[i].score = best[i].no_answer;
      continue;
    }
    const std::string& context = questions[i].context;
    const FoundAnswer* const answer = best[i].best();
    Ensure(answer != nullptr, "a context without a span");
    const TextSpan span = answer->bytes;
    const TextSpan characters = CharacterSpans(context, {&span, 1}).front();
    answers[i] = {context.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin)),
                  answer->score, characters.begin, characters.end, /*found=*/true};
  }
  return answers;
}

}  // namespace headlight
