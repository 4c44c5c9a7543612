// The encoder families and their heads against Hugging Face Transformers: tools/make_encoder_goldens.py says what the
// folders in testdata/encoders hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/models/family.h"
#include "tests/encoder_parity_testing.h"

namespace headlight {
namespace {

using testing::HasSubstr;

const std::string kFolders = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/";

class EncoderParity : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, EncoderParity,
                         testing::Values("bert_classes_left", "bert_tags", "bert_answers_left", "roberta",
                                         "roberta_masked_left", "roberta_classes", "roberta_answers", "xlm_tags_left"),
                         [](const auto& which) { return which.param; });

TEST_P(EncoderParity, GivesWhatTransformersGives) {
  const std::unique_ptr<TextEncoder> model = LoadTextEncoder(kFolders + GetParam());
  CompareWithGolden(*model, kFolders + GetParam(), 2e-5);
}

TEST_P(EncoderParity, ComesBackFromItsFolder) {
  const std::unique_ptr<TextEncoder> model = LoadTextEncoder(kFolders + GetParam());
  const TemporaryFolder folder;
  model->Save(folder.path());
  const std::unique_ptr<TextEncoder> again = LoadTextEncoder(folder.path());
  EXPECT_EQ(again->heads().labels, model->heads().labels);
  EXPECT_EQ(again->heads().problem, model->heads().problem);
  ASSERT_EQ(again->parameters().all().size(), model->parameters().all().size());
  for (std::size_t i = 0; i < model->parameters().all().size(); ++i) {
    EXPECT_EQ(again->parameters().all()[i].names, model->parameters().all()[i].names);
    EXPECT_EQ(again->parameters().all()[i].value.ToVector<float>(),
              model->parameters().all()[i].value.ToVector<float>());
  }
  const EncoderGolden golden(kFolders + GetParam());
  Context context;
  EXPECT_EQ(again->Encode(context, golden.ids, golden.types, golden.texts).ToVector<float>(),
            model->Encode(context, golden.ids, golden.types, golden.texts).ToVector<float>());
}

// What is wrong with a folder in whose config.json `from` is replaced.
std::string ErrorWith(const std::string& name, const std::string& from, const std::string& to) {
  const TemporaryFolder folder;
  std::filesystem::copy(kFolders + name, folder.path(), std::filesystem::copy_options::recursive);
  std::string config = ReadFile(folder.File("config.json"));
  const std::size_t at = config.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  WriteFile(folder.File("config.json"), config.replace(at, from.size(), to));
  return ErrorOf([&] { LoadTextEncoder(folder.path()); });
}

TEST(EncoderHeads, RefuseWhatTheyAreNot) {
  EXPECT_EQ(ErrorWith("bert_tags", "\"O\",", "\"None\","), "");
  EXPECT_THAT(ErrorWith("bert_tags", "\"0\": \"O\"", "\"00\": \"O\""), HasSubstr("3 classes are numbered 0 to 2"));
  EXPECT_THAT(ErrorWith("bert_tags", "\"1\": \"B-PER\"", "\"3\": \"B-PER\""), HasSubstr("key 'id2label.3'"));
  EXPECT_THAT(ErrorWith("bert_tags", "\"0\": \"O\",", ""), HasSubstr("numbered 0 to 1"));
  EXPECT_THAT(ErrorWith("bert_tags", "\"2\": \"I-PER\"", "\"2\": \"I-PER\", \"3\": \"O2\""), HasSubstr("other shapes"));
  EXPECT_THAT(ErrorWith("bert_tags", "\"2\": \"I-PER\"", "\"2\": \"B-PER\""), HasSubstr("the same label"));
  EXPECT_THAT(ErrorWith("bert_tags", "ForTokenClassification", "ForMultipleChoice"),
              HasSubstr("'BertForMultipleChoice' does not say whether classifier.weight tells"));
  EXPECT_THAT(ErrorWith("bert_tags", "\"model_type\"", "\"num_labels\": 4, \"model_type\""),
              HasSubstr("there are 3 labels"));
  EXPECT_THAT(ErrorWith("roberta_classes", "multi_label_classification", "ranking"), HasSubstr("problem_type"));
  EXPECT_THAT(ErrorWith("bert_tags", "ForTokenClassification", "ForSequenceClassification"), HasSubstr("pooler"));
  EXPECT_THAT(ErrorWith("roberta", "\"pad_token_id\": 1", "\"pad_token_id\": 15"),
              HasSubstr("the number of positions must be above 16"));
  EXPECT_THAT(ErrorWith("roberta", "\"is_decoder\": false", "\"is_decoder\": true"), HasSubstr("is_decoder"));

  const std::unique_ptr<TextEncoder> roberta = LoadTextEncoder(kFolders + "roberta");
  EXPECT_EQ(roberta->limits().positions, 14);
  Context context;
  const std::vector<std::int32_t> long_text(15, 3), padding = {3, 1, 4};
  EXPECT_THAT(ErrorOf([&] { roberta->Encode(context, long_text, {}, {{0, 15}}); }), HasSubstr("14 positions"));
  EXPECT_THAT(ErrorOf([&] { roberta->Encode(context, padding, {}, {{0, 3}}); }), HasSubstr("padding"));
  const Tensor hidden = roberta->Encode(context, long_text, {}, {{0, 14}, {14, 1}});
  EXPECT_THAT(ErrorOf([&] { roberta->MaskedWordLogits(context, hidden); }), HasSubstr("masked words"));
  EXPECT_THAT(ErrorOf([&] { roberta->TokenClassLogits(context, hidden); }), HasSubstr("classes of tokens"));
  EXPECT_THAT(ErrorOf([&] { roberta->SpanLogits(context, hidden); }), HasSubstr("answers"));
  EXPECT_THAT(ErrorOf([&] { roberta->NextSentenceLogits(context, hidden); }), HasSubstr("next sentence"));
  EXPECT_THAT(ErrorOf([&] {
                roberta->SequenceClassLogits(context, hidden, {{0, 15}});
              }),
              HasSubstr("classes of texts"));
}

}  // namespace
}  // namespace headlight
