#include "headlight/data/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/file.h"
#include "headlight/data/testing.h"

namespace headlight::questions_test {
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
  EXPECT_THAT(read.texts.texts[2].labels, ElementsAre(0, 0));  // the index of [CLS]
  EXPECT_EQ(answer(3), "runs");                                // the tokens that overlap the answer
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
            "a.jsonl:1: key 'answers[0].start': the answer's text is not at character 3 of the context");
  EXPECT_THAT(answers(R"([{"text": "ä", "start": 10}])"), HasSubstr("is not at character 10"));
  EXPECT_THAT(answers(R"([{"text": "ä b", "start": 8}])"), HasSubstr("is not at character 8"));
  EXPECT_THAT(answers(R"([{"text": "dog", "start": -1}])"), HasSubstr("expected an integer from 0"));
  EXPECT_THAT(answers(R"([{"text": "dog", "start": 1e3}])"), HasSubstr("expected an integer from 0"));
  EXPECT_THAT(answers(R"([{"text": "dog", "start": 99999999999999999999}])"), HasSubstr("expected an integer from 0"));
  EXPECT_EQ(
      answers(R"([{"text": "", "start": 3}])"),
      "a.jsonl:1: key 'answers[0].start': the answer is empty; if a question has no answer, leave the list empty");
  EXPECT_EQ(answers(R"([{"text": " ", "start": 3}])"), "a.jsonl:1: key 'answers[0].start': the answer has no tokens");
  EXPECT_EQ(answers(R"([{"start": 3}])"), "a.jsonl:1: key 'answers[0].text': expected a string, but there is none");
  EXPECT_THAT(answers(R"([{"text": "dog"}])"), HasSubstr("key 'answers[0].start': expected an integer"));
  EXPECT_EQ(answers(R"({"text": ["dog"], "answer_start": []})"),
            "a.jsonl:1: key 'answers.answer_start': 1 texts start at 0 places");
  EXPECT_EQ(answers(R"({"text": ["dog", "dog"], "answer_start": [4, 5]})"),
            "a.jsonl:1: key 'answers.answer_start[1]': the answer's text is not at character 5 of the context");
  EXPECT_EQ(reader.Refused(R"({"question": "dog", "context": "", "answers": []})"),
            "a.jsonl:1: the passage has no tokens");
  EXPECT_THAT(reader.Refused(R"({"question": ")" + std::string(60, '!') + R"(", "context": "dog", "answers": []})"),
              HasSubstr("a.jsonl:1: the question has 63 tokens"));
  EXPECT_THAT(ErrorOf([&] { ReadQuestions({"train.txt"}, reader.tokenizer, 32, false); }),
              HasSubstr("train.txt: questions are in"));
}

TEST(Questions, AJsonFileHasSquadsFormatOrRecords) {
  const Reader reader;
  const auto read = [&](const std::string& text, std::optional<TextFormat> format = {}) {
    return ReadQuestions({reader.folder.Write("a.json", text)}, reader.tokenizer, 32, true, {}, format)
        .questions.size();
  };
  const std::string one = R"({"question": "a", "context": "dog", "answers": []})";
  EXPECT_EQ(read(one), 1U);
  EXPECT_EQ(read("\n" + one + "\n" + one), 2U);
  EXPECT_EQ(read("[" + one + ",\n " + one + "]"), 2U);
  EXPECT_EQ(read(one, TextFormat::jsonl), 1U);
  const std::string squad =
      R"({"data": [{"paragraphs": [{"context": "dog", "qas": [{"question": "a", "answers": []}]}]}]})";
  EXPECT_EQ(read(squad), 1U);
  // A line of SQuAD's file may be longer than the longest line of records.
  EXPECT_EQ(read(R"({"version": ")" + std::string(kMaxLineBytes, 'x') + R"(", )" + squad.substr(1)), 1U);
}

constexpr const char* kSquad = R"({"version": "v2.0", "data": [{"title": "Dogs", "paragraphs": [
{"context": "ä the dog runs", "qas": [
  {"id": "1", "question": "who?", "is_impossible": false, "answers": [{"text": "dog", "answer_start": 6},
                                                                      {"text": "the dog", "answer_start": 2}]},
  {"id": "2", "question": "why?", "is_impossible": true, "answers": [],
   "plausible_answers": [{"text": "dog", "answer_start": 6}]}]},
{"context": "a man", "qas": []}]}, {"title": "Men", "paragraphs": [
{"context": "a man", "qas": [{"id": "3", "question": "who?", "answers": [{"text": "man", "answer_start": 2}]}]}]}]})";

TEST(Questions, ReadsSquadAsItIsPublished) {
  const Reader reader;
  const QuestionTexts read = ReadQuestions({reader.folder.Write("a.json", kSquad)}, reader.tokenizer, 32, true);
  ASSERT_EQ(read.questions.size(), 3U);
  EXPECT_THAT(read.questions[0].answers, ElementsAre("dog", "the dog"));
  EXPECT_EQ(read.questions[0].passage, "ä the dog runs");
  EXPECT_TRUE(read.questions[1].answers.empty());
  EXPECT_THAT(read.texts.texts[1].labels, ElementsAre(0, 0));
  EXPECT_THAT(read.questions[2].answers, ElementsAre("man"));
  const std::string impossible = R"({"question": "who?", "context": "a man", "is_impossible": true, "answers": [)"
                                 R"({"text": "dog", "answer_start": 9}]})";
  EXPECT_TRUE(reader.Read(impossible).questions[0].answers.empty());
}

TEST(Questions, NamesThePlaceInSquadsFile) {
  const Reader reader;
  const auto refused = [&](std::string json) {
    const std::string path = reader.folder.Write("a.json", json);
    const std::string error = ErrorOf([&] { ReadQuestions({path}, reader.tokenizer, 32, true); });
    return error.substr(std::min(error.size(), error.find("a.json")));
  };
  EXPECT_EQ(refused(R"({"data": [{"title": "Dogs"}]})"),
            "a.json: key 'data[0].paragraphs': expected an array, but there is none");
  std::string moved = kSquad;
  moved.replace(moved.find("answer_start\": 2}]}]}]}"), 16, "answer_start\": 3");
  EXPECT_EQ(refused(moved),
            "a.json: key 'data[1].paragraphs[0].qas[0].answers[0].answer_start': the answer's text is not at "
            "character 3 of the context");
}

TEST(Questions, ReadsCsv) {
  const Reader reader;
  const auto read = [&](std::string_view text) {
    return ReadQuestions({reader.folder.Write("a.csv", text)}, reader.tokenizer, 32, true);
  };
  const QuestionTexts questions =
      read("question,context,answer,answer_start\nwho?,\"a dog, a man\",man,9\nwhy?,a dog,,\n");
  ASSERT_EQ(questions.questions.size(), 2U);
  EXPECT_THAT(questions.questions[0].answers, ElementsAre("man"));
  EXPECT_TRUE(questions.questions[1].answers.empty());
  EXPECT_THAT(ErrorOf([&] { read("question,context,answer,answer_start\nwho?,a dog,dog,1x\n"); }),
              HasSubstr("a.csv:2: key 'answer_start': expected an integer, got '1x'"));
  EXPECT_THAT(ErrorOf([&] { read("question,context,answer,answer_start\nwho?,a dog,dog,-2\n"); }),
              HasSubstr("is not at character -2"));
  EXPECT_THAT(ErrorOf([&] { read("question,context,answers\nwho?,a dog,\n"); }),
              HasSubstr("a.csv:1: there is no column answer, but"));
}

TEST(Questions, ReadsTsv) {
  const Reader reader;
  const std::string text = "question\tcontext\tanswer\tanswer_start\nwho?\ta \"dog\" man\tman\t8\n";
  const auto read = [&](const char* name, std::optional<TextFormat> format = {}) {
    return ReadQuestions({reader.folder.Write(name, text)}, reader.tokenizer, 32, true, {}, format);
  };
  EXPECT_THAT(read("a.tsv").questions.at(0).answers, ElementsAre("man"));
  EXPECT_THAT(read("a.txt", TextFormat::tsv).questions.at(0).answers, ElementsAre("man"));
}

TEST(Questions, RefusesTruncations) {
  const Reader reader;
  const std::string squad = kSquad;
  for (std::size_t size = 0; size < squad.size(); size += 5) {
    const std::string path = reader.folder.Write("a.json", squad.substr(0, size));
    const std::string error = ErrorOf([&] { ReadQuestions({path}, reader.tokenizer, 32, true); });
    EXPECT_THAT(error, HasSubstr("a.json")) << size;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace headlight::questions_test
