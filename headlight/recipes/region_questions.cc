#include "headlight/recipes/region_questions.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {

VisualQuestions InNumbers(const ImageQuestions& read, const QuestionReading& reading) {
  VisualQuestions set;
  set.images = RegionsOf(read.images, reading.boxes, reading.model);
  const std::int64_t longest = reading.model.limits().positions;
  for (const AnsweredQuestion& question : read.questions) {
    const Encoding encoding = reading.tokenizer.Encode(question.question, {.read_special = false});
    Check(std::ssize(encoding.ids) <= longest, "{}: {} tokens, and the model reads at most {}", question.location,
          encoding.ids.size(), longest);
    const auto label = std::ranges::find(reading.labels, question.answer);
    auto kind = std::ranges::find(reading.kinds, question.kind);
    if (kind == reading.kinds.end()) kind = reading.kinds.insert(kind, question.kind);
    set.questions.push_back(
        {.ids = encoding.ids,
         .types = encoding.type_ids,
         .image = question.image,
         .answer = label == reading.labels.end() ? -1 : static_cast<std::int32_t>(label - reading.labels.begin()),
         .kind = static_cast<std::size_t>(kind - reading.kinds.begin())});
  }
  return set;
}

}  // namespace headlight
