#include "headlight/data/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/file.h"
#include "headlight/data/testing.h"

namespace headlight {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Reader {
  TestFolder folder;
  PipelineTokenizer tokenizer = [] {
    const std::string path = HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_bert_uncased.json";
    return PipelineTokenizer::Parse(ReadFile(path), path);
  }();

  QuestionTexts Read(std::string_view text, std::int64_t longest = 32, bool to_be_scored = true) const {
    return ReadQuestions({folder.Write("a.jsonl", text)}, tokenizer, longest, to_be_scored);
  }
  std::string Refused(std::string_view line) const {
    const std::string error = ErrorOf([&] { Read(line); });
    return error.substr(std::min(error.size(), error.find("a.jsonl")));
  }
};

TEST(Questions, ReadsBothFormsAndWhereTheAnswerIs) {
  const Reader reader;
  const QuestionTexts read = reader.Read(
      R"({"question": "dog?", "context": "ä 😀 the dog runs", "answers": [{"text": "dog", "start": 8}]})"
      "\n"
      R"({"question": "dog?", "context": "the dog runs", "answers": {"text": ["dog runs", "the"], "answer_start": [4, 0]}})"
      "\n"
      R"({"question": "dog?", "context": "the dog runs", "answers": {"text": [], "answer_start": []}})"
      "\n"
      R"({"question": "dog?", "context": "the dog runs", "answers": [{"text": "uns", "answer_start": 9}]})");
  ASSERT_EQ(read.texts.texts.size(), 4U);
  const auto answer = [&](std::size_t i) {
    const TextExample& text = read.texts.texts[i];
    const auto first = text.ids.begin();
    return reader.tokenizer.Decode(std::vector<std::int32_t>(first + text.labels[0], first + text.labels[1] + 1));
  };
  EXPECT_EQ(answer(0), "dog");
  EXPECT_EQ(answer(1), "dog runs");
  EXPECT_THAT(read.texts.texts[2].labels, ElementsAre(0, 0));  // [CLS]
  EXPECT_EQ(answer(3), "runs");                                // the tokens that have some of it
  EXPECT_THAT(read.questions[1].answers, ElementsAre("dog runs", "the"));
  EXPECT_TRUE(read.questions[2].answers.empty());
}

TEST(Questions, LongPassagesAreWindowsAndThoseWithoutTheAnswerPointAtTheFirstToken) {
  const Reader reader;
  std::string passage;
  for (int i = 0; i < 20; ++i) passage += i == 13 ? "men " : "dog ";
  const std::string line =
      fmt::format(R"({{"question": "dog", "context": "{}", "answers": [{{"text": "men", "start": 52}}]}})", passage);
  for (const bool scored : {true, false}) {
    const QuestionTexts read = reader.Read(line, 12, scored);
    EXPECT_EQ(read.questions.size(), scored ? 1U : 0U);
    int with = 0;
    for (const TextExample& text : read.texts.texts) {
      EXPECT_LE(text.ids.size(), 12U);
      EXPECT_EQ(text.labels[0], text.labels[1]);
      if (text.labels[0] == 0) continue;
      EXPECT_EQ(reader.tokenizer.Piece(text.ids[static_cast<std::size_t>(text.labels[0])]), "men");
      ++with;
    }
    EXPECT_GT(with, 1);
    EXPECT_GT(read.texts.texts.size(), 4U);
  }
}

TEST(Questions, RefusesWhatIsBroken) {
  const Reader reader;
  const auto answers = [&](const std::string& json) {
    return reader.Refused(R"({"question": "dog", "context": "the dog ä", "answers": )" + json + "}");
  };
  EXPECT_EQ(answers("[]"), "");
  EXPECT_EQ(answers("null"), "a.jsonl:1: key 'answers': expected an object, but there is none");
  EXPECT_EQ(answers("\"dog\""), "a.jsonl:1: key 'answers': expected an object, got 'dog'");
  EXPECT_EQ(answers("[\"dog\"]"), "a.jsonl:1: key 'answers[0]': expected an object, got 'dog'");
  EXPECT_EQ(answers(R"([{"text": "dog", "start": 3}])"),
            "a.jsonl:1: key 'answers[0].start': the answer's text does not stand at character 3 of the context");
  EXPECT_THAT(answers(R"([{"text": "ä", "start": 10}])"), HasSubstr("does not stand at character 10"));
  EXPECT_THAT(answers(R"([{"text": "ä b", "start": 8}])"), HasSubstr("does not stand at character 8"));
  EXPECT_THAT(answers(R"([{"text": "dog", "start": -1}])"), HasSubstr("expected an integer from 0"));
  EXPECT_THAT(answers(R"([{"text": "dog", "start": 1e3}])"), HasSubstr("expected an integer from 0"));
  EXPECT_THAT(answers(R"([{"text": "dog", "start": 99999999999999999999}])"), HasSubstr("expected an integer from 0"));
  EXPECT_EQ(answers(R"([{"text": "", "start": 3}])"),
            "a.jsonl:1: key 'answers[0].start': the answer is empty; no answer at all says that there is none");
  EXPECT_EQ(answers(R"([{"text": " ", "start": 3}])"), "a.jsonl:1: key 'answers[0].start': the answer has no tokens");
  EXPECT_EQ(answers(R"([{"start": 3}])"), "a.jsonl:1: key 'answers[0].text': expected a string, but there is none");
  EXPECT_THAT(answers(R"([{"text": "dog"}])"), HasSubstr("key 'answers[0].start': expected an integer"));
  EXPECT_EQ(answers(R"({"text": ["dog"], "answer_start": []})"),
            "a.jsonl:1: key 'answers.answer_start': 1 texts start at 0 places");
  EXPECT_EQ(answers(R"({"text": ["dog", "dog"], "answer_start": [4, 5]})"),
            "a.jsonl:1: key 'answers.answer_start[1]': the answer's text does not stand at character 5 of the context");
  EXPECT_EQ(reader.Refused(R"({"question": "dog", "context": "", "answers": []})"),
            "a.jsonl:1: the passage has no tokens");
  EXPECT_THAT(reader.Refused(R"({"question": ")" + std::string(60, '!') + R"(", "context": "dog", "answers": []})"),
              HasSubstr("a.jsonl:1: the question has 63 tokens"));
  EXPECT_EQ(ErrorOf([&] { ReadQuestions({"train.tsv"}, reader.tokenizer, 32, false); }),
            "train.tsv: questions are read from JSON lines, whose names end in .jsonl or .jsonl.gz");
}

}  // namespace
}  // namespace headlight
