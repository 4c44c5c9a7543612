// Answers of folders of each kind; the program's tests have those of images.
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

TEST(FolderAnswerer, FindsAnswersInPassages) {
  EXPECT_EQ(AnswersFromOf(kFinds), AnswersFrom::passages);
  const FolderAnswerer answerer = FolderAnswerer::Load(kFinds, {.always = true});
  EXPECT_EQ(answerer.form, AnswerForm::found);
  EXPECT_FALSE(answerer.images);
  const std::vector<Question> questions = {{"who", "two men run"}, {"where", "the dog sleeps here"}};
  const std::vector<FolderAnswer> answers = answerer.passages(questions, {});
  const std::vector<AnswerSpan> expected = QuestionAnswerer::Load(kFinds).Answer(questions, {.may_decline = false});
  ASSERT_EQ(answers.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(answers[i].answer, expected[i].answer);
    EXPECT_EQ(answers[i].score, expected[i].score);
    EXPECT_EQ(answers[i].start, expected[i].start);
    EXPECT_EQ(answers[i].end, expected[i].end);
    EXPECT_TRUE(answers[i].found);
  }
  EXPECT_THAT(ErrorOf([&] { answerer.passages(std::vector<Question>{{"who", ""}}, {}); }), HasSubstr("text 1: "));
  EXPECT_THAT(ErrorOf([&] {
                answerer.passages(std::vector<Question>{{"who", ""}}, [](std::size_t) { return "mine"; });
              }),
              HasSubstr("mine: "));
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
              HasSubstr("text 1: the passage has no tokens"));
}

TEST(FolderAnswerer, RefusesOptionsThatTheModelDoesNotHave) {
  const auto error_of = [](const std::string& folder, const FolderAnswererOptions& options) {
    return ErrorOf([&] { FolderAnswerer::Load(folder, options); });
  };
  EXPECT_THAT(error_of(kWrites, {.always = true}), HasSubstr("`always`"));
  EXPECT_THAT(error_of(kWrites, {.max_length = 1 << 20}), HasSubstr("`max_length` 1048576: the model writes at most"));
  EXPECT_THAT(error_of(kFinds, {.max_length = 0}), HasSubstr("`max_length` must be at least 1, not 0"));
  EXPECT_THAT(error_of(kFinds, {.detector = kData + "detectors/detr"}), HasSubstr("`detector` is for models"));
  EXPECT_THAT(error_of(kData + "encoders/tag", {}), HasSubstr("no head for answers"));
}

}  // namespace
}  // namespace headlight::folder_answerer_test
