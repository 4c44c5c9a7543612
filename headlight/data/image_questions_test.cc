#include "headlight/data/image_questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"

namespace headlight::image_questions_test {
namespace {

using testing::HasSubstr;

struct ImageQuestionFiles : testing::Test {
  ImageQuestionFiles() {
    for (const char* name : {"a.png", "b.png"}) WriteFile(folder.File(name), name);
  }
  ImageQuestions Read(const std::string& name, const std::string& text, const TextShare& share = {}) {
    WriteFile(folder.File(name), text);
    return ReadImageQuestions({folder.File(name)}, share);
  }
  std::string Refusal(const std::string& name, const std::string& text) {
    std::string error = ErrorOf([&] { Read(name, text); });
    for (std::size_t at; (at = error.find(folder.path() + "/")) != std::string::npos;)
      error.erase(at, folder.path().size() + 1);
    return error;
  }

  TemporaryFolder folder;
};

TEST_F(ImageQuestionFiles, AreRead) {
  const ImageQuestions lines =
      Read("a.jsonl",
           "{\"path\": \"b.png\", \"question\": \"What?\", \"answer\": \"dog\"}\n"
           "{\"path\": \"a.png\", \"question\": \"How many?\", \"answer\": 2, \"kind\": \"x\"}\n"
           "{\"path\": \"b.png\", \"question\": \"Who?\", \"answer\": \"me\"}\n");
  ASSERT_EQ(lines.questions.size(), 3U);
  EXPECT_EQ(lines.images, (std::vector<std::string>{folder.File("b.png"), folder.File("a.png")}));
  EXPECT_EQ(lines.questions[1].answer, "2");
  EXPECT_EQ(lines.questions[1].kind, "x");
  EXPECT_EQ(lines.questions[2].image, 0U);
  EXPECT_THAT(lines.questions[2].location, testing::EndsWith("a.jsonl:3"));

  const ImageQuestions tabs = Read("a.tsv", "a.png\tWhat is it?\ta dog\n\n");
  ASSERT_EQ(tabs.questions.size(), 1U);
  EXPECT_EQ(tabs.questions[0].question, "What is it?");
  EXPECT_EQ(tabs.questions[0].answer, "a dog");
  EXPECT_EQ(Read("a.tsv", "question\tanswer\tpath\nWhat?\tdog\ta.png\n").questions.at(0).question, "What?");
  EXPECT_EQ(Read("a.csv", "path,question,answer\na.png,\"What, then?\",dog\n").questions[0].question, "What, then?");
}

TEST_F(ImageQuestionFiles, AreAnsweredWithoutImages) {
  const auto row = [](const char* question, const char* answer, const char* kind) {
    return fmt::format(R"({{"path": "a.png", "question": "{}", "answer": "{}", "kind": "{}"}})", question, answer,
                       kind) +
           "\n";
  };
  const ImageQuestions known = Read("known.jsonl", row("How many?", "2", "count") + row("How many?", "3", "count") +
                                                       row("How many?", "3", "count") + row("Is it?", "no", "is") +
                                                       row("Is it?", "yes", "is") + row("Is that?", "yes", "is"));
  const ImageQuestions asked =
      Read("asked.jsonl", row("How many?", "3", "count") + row("How many?", "2", "count") + row("Is it?", "no", "is") +
                              row("Are they?", "yes", "is") + row("What?", "3", "new") + row("Is it?", "yes", "is"));
  const BlindAnswers right = AnswerBlindly(known, asked);
  // "Is it?" has two equally frequent answers, and "no" is the first in sort order. "Are they?" is new, and most
  // questions of its kind have the answer "yes". For a new kind, the most frequent answers of all questions are "3" and
  // "yes".
  EXPECT_EQ(right.by_question, (std::vector<bool>{true, false, true, true, true, false}));
  EXPECT_EQ(right.by_kind, (std::vector<bool>{true, false, false, true, true, true}));
  EXPECT_EQ(AnswerBlindly({}, asked).by_question, std::vector<bool>(6, false));
}

TEST_F(ImageQuestionFiles, ErrorsNameTheProblem) {
  EXPECT_THAT(Refusal("a.tsv", "a.png\tWhat?\n"), testing::StartsWith("a.tsv:1: expected the path"));
  EXPECT_THAT(Refusal("a.tsv", "a.png\tWhat?\tx\ty\n"), testing::StartsWith("a.tsv:1: expected the path"));
  EXPECT_EQ(Refusal("a.tsv", "a.png\t\tx\n"), "a.tsv:1: the question is empty");
  EXPECT_EQ(Refusal("a.tsv", "a.png\tWhat?\t\n"), "a.tsv:1: the answer is empty");
  EXPECT_EQ(Refusal("a.tsv", "c.png\tWhat?\tx\n"), "a.tsv:1: c.png: no such file");
  EXPECT_THAT(Refusal("a.jsonl", "{\"path\": \"a.png\", \"question\": \"What?\"}\n"),
              testing::StartsWith("a.jsonl:1: key 'answer'"));
  EXPECT_THAT(Refusal("a.txt", "a.png\tWhat?\tx\n"), HasSubstr("a.txt: questions about images"));
}

TEST_F(ImageQuestionFiles, AreSharedByTheirImages) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    WriteFile(folder.File(fmt::format("{}.png", i)), "x");
    text += fmt::format("{}.png\tWhat?\tx\n{}.png\tWho?\ty\n", i, i);
  }
  const ImageQuestions learned = Read("a.tsv", text, {0.3, 1, false}), held = Read("a.tsv", text, {0.3, 1, true});
  EXPECT_EQ(learned.images.size() + held.images.size(), 100U);
  EXPECT_NEAR(static_cast<double>(held.images.size()), 30, 15);
  EXPECT_EQ(held.questions.size(), 2 * held.images.size());
  std::set<std::string> all(learned.images.begin(), learned.images.end());
  for (const std::string& image : held.images) EXPECT_TRUE(all.insert(image).second);
}

}  // namespace
}  // namespace headlight::image_questions_test
