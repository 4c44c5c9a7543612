// Compares DistilBERT with Hugging Face Transformers. tools/make_encoder_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/models/family.h"
#include "tests/encoder_parity_testing.h"

namespace headlight::distilbert_test {
namespace {

const std::string kFolders = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/";

class DistilBert : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, DistilBert,
                         testing::Values("distilbert", "distilbert_masked_left", "distilbert_classes",
                                         "distilbert_tags", "distilbert_answers_left"),
                         [](const auto& which) { return which.param; });

TEST_P(DistilBert, EqualsTransformers) {
  const std::unique_ptr<TextEncoder> model = LoadModel<TextEncoder>(kFolders + GetParam());
  CompareWithGolden(*model, kFolders + GetParam(), 2e-5);
}

TEST_P(DistilBert, SavesAndLoads) {
  const std::unique_ptr<TextEncoder> model = LoadModel<TextEncoder>(kFolders + GetParam());
  const TemporaryFolder folder;
  model->Save(folder.path());
  CompareWithGolden(*LoadModel<TextEncoder>(folder.path()), kFolders + GetParam(), 2e-5);
}

TEST(DistilBertHeads, AreNewOnTheSameEncoder) {
  const std::unique_ptr<TextEncoder> tagger = LoadModel<TextEncoder>(kFolders + "distilbert_tags");
  const auto classifier = AddHeads(*tagger, {.sequence_classes = true, .labels = {"no", "yes"}}, 1);
  const std::vector<std::int32_t> ids = {3, 7, 2};
  Context context;
  const Tensor hidden = classifier->Encode(context, ids, {}, {{0, 3}});
  EXPECT_EQ(hidden.ToVector<float>(), tagger->Encode(context, ids, {}, {{0, 3}}).ToVector<float>());
  EXPECT_EQ(classifier->SequenceClassLogits(context, hidden, {{0, 3}}).columns(), 2);
  EXPECT_THAT(ErrorOf([&] { classifier->TokenClassLogits(context, hidden); }), testing::HasSubstr("classes of tokens"));
}

TEST(DistilBertFolder, RefusesUnsupportedInput) {
  const auto error = [](const std::string& settings) {
    const TemporaryFolder folder;
    std::filesystem::copy(kFolders + "distilbert", folder.path(), std::filesystem::copy_options::recursive);
    std::string config = ReadFile(folder.File("config.json"));
    WriteFile(folder.File("config.json"), config.replace(config.find('{'), 1, "{" + settings + ","));
    return ErrorOf([&] { LoadModel<TextEncoder>(folder.path()); });
  };
  EXPECT_THAT(error(R"("type_vocab_size": 2)"), testing::HasSubstr("type_vocab_size"));
}

}  // namespace
}  // namespace headlight::distilbert_test
