// Tests answers about passages with each kind of model. The tests of the program cover images.
#include "headlight/pipelines/folder_answerer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/pipelines/translator.h"

namespace headlight::folder_answerer_test {
namespace {

using testing::HasSubstr;

const std::string kData = HEADLIGHT_SOURCE_DIR "/tests/testdata/";
const std::string kFinds = kData + "encoders/answer", kWrites = kData + "encoder_decoders/t5_text";

void ExpectSame(const FolderAnswer& answer, const AnswerSpan& expected) {
  EXPECT_EQ(answer.answer, expected.answer);
  EXPECT_EQ(answer.score, expected.score);
  EXPECT_EQ(answer.start, expected.start);
  EXPECT_EQ(answer.end, expected.end);
  EXPECT_EQ(answer.found, expected.found);
}

TEST(FolderAnswerer, FindsAnswersInPassages) {
  EXPECT_EQ(AnswersFromOf(kFinds), AnswersFrom::passages);
  const FolderAnswerer answerer = FolderAnswerer::Load(kFinds, {.always = true});
  EXPECT_EQ(answerer.form, AnswerForm::found);
  EXPECT_FALSE(answerer.images);
  const std::vector<Question> questions = {{"who", "two men run"}, {"where", "the dog sleeps here"}};
  const std::vector<FolderAnswer> answers = answerer.passages(questions, {});
  const std::vector<std::vector<AnswerSpan>> expected =
      QuestionAnswerer::Load(kFinds).Answer(questions, {.may_decline = false});
  ASSERT_EQ(answers.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    ExpectSame(answers[i], expected[i].front());
    EXPECT_TRUE(answers[i].found);
    EXPECT_TRUE(answers[i].further.empty());
  }
  EXPECT_THAT(ErrorOf([&] { answerer.passages(std::vector<Question>{{"who", ""}}, {}); }), HasSubstr("text 1: "));
  EXPECT_THAT(ErrorOf([&] {
                answerer.passages(std::vector<Question>{{"who", ""}}, [](std::size_t) { return "mine"; });
              }),
              HasSubstr("mine: "));
}

TEST(FolderAnswerer, FindsFurtherAnswersInChosenWindows) {
  const std::vector<Question> questions = {{"who", "two men run and two dogs sleep here"}};
  const std::vector<AnswerSpan> expected =
      QuestionAnswerer::Load(kFinds)
          .Answer(questions, {.top_k = 3, .align_words = false, .max_input_length = 12, .stride = 2})
          .front();
  const std::vector<FolderAnswer> answers =
      FolderAnswerer::Load(kFinds, {.top_k = 3, .align_words = false, .max_input_length = 12, .stride = 2})
          .passages(questions, {});
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_EQ(expected.size(), 3U);
  ExpectSame(answers[0], expected[0]);
  ASSERT_EQ(answers[0].further.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) ExpectSame(answers[0].further[i], expected[i + 1]);
  EXPECT_THAT(ErrorOf([&] { FolderAnswerer::Load(kFinds, {.top_k = 101}).passages(questions, {}); }),
              HasSubstr("`top_k` must be 1"));
}

TEST(FolderAnswerer, WritesAnswersToPassages) {
  EXPECT_EQ(AnswersFromOf(kWrites), AnswersFrom::passages);
  const FolderAnswerer answerer = FolderAnswerer::Load(kWrites);
  EXPECT_EQ(answerer.form, AnswerForm::written);
  const std::vector<Question> questions = {{"Who?", "Two men,\ntwo dogs."}};
  const std::vector<FolderAnswer> answers = answerer.passages(questions, {});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].answer, Translator::Load(kWrites).Translate("question: Who? context: Two men, two dogs."));
  EXPECT_FALSE(answers[0].score);
  EXPECT_THAT(ErrorOf([&] {
                answerer.passages(std::vector<Question>{{"Who?", ""}}, {});
              }),
              HasSubstr("text 1: the passage"));
}

TEST(FolderAnswerer, RefusesOptionsThatTheModelDoesNotHave) {
  const auto error_of = [](const std::string& folder, const FolderAnswererOptions& options) {
    return ErrorOf([&] { FolderAnswerer::Load(folder, options); });
  };
  EXPECT_THAT(error_of(kWrites, {.always = true}), HasSubstr("`always`"));
  EXPECT_THAT(error_of(kWrites, {.top_k = 2}), HasSubstr("`top_k` is for models"));
  EXPECT_THAT(error_of(kWrites, {.align_words = false}), HasSubstr("`align_words`"));
  EXPECT_THAT(error_of(kWrites, {.max_input_length = 9}), HasSubstr("`max_input_length`"));
  EXPECT_THAT(error_of(kWrites, {.stride = 0}), HasSubstr("`stride`"));
  EXPECT_THAT(error_of(kWrites, {.max_length = 1 << 20}), HasSubstr("`max_length` 1048576"));
  EXPECT_THAT(error_of(kFinds, {.max_length = 0}), HasSubstr("`max_length` must be at least"));
  EXPECT_THAT(error_of(kFinds, {.detector = kData + "detectors/detr"}), HasSubstr("`detector` is for models"));
  EXPECT_THAT(error_of(kData + "encoders/tag", {}), HasSubstr("no head for answers"));
}

}  // namespace
}  // namespace headlight::folder_answerer_test
