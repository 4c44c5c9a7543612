// Tests `answer` with a ViLT model, which processes whole images.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/image/processor.h"
#include "headlight/models/family.h"
#include "headlight/models/vilt.h"
#include "headlight/ops/softmax.h"
#include "headlight/pipelines/region_answerer.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::answer_regions_test {
namespace {

using testing::HasSubstr;

const std::string kImage = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png";
const std::string kDetector = HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/detr";

struct AnswerWithVilt : testing::Test {
  AnswerWithVilt() {
    std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_bert_uncased.json",
                          folder.File("tokenizer.json"));
    WriteFile(folder.File("preprocessor_config.json"),
              R"({"image_processor_type": "ViltImageProcessor", "size": {"shortest_edge": 12}, "size_divisor": 4})");
    ViltConfig config;
    config.task = ViltTask::answers;
    config.vit.model = 16;
    config.vit.layers = 2;
    config.vit.heads = 2;
    config.vit.ffn = 20;
    config.vit.image = {12, 12};
    config.vit.patch = {4, 4};
    config.vocabulary = PipelineTokenizer::Load(folder.path()).size();
    config.labels = {"yes", "no", "red"};
    Vilt model(config);
    model.parameters().Initialize(1);
    for (Parameter& parameter : model.parameters().all())
      if (parameter.names.front() == "classifier.3.bias")
        parameter.value.CopyFrom(Tensor::From({0.F, 0.5F, 0.25F}, {3}));
    model.Save(folder.path());
  }

  // Runs the command with the model and additional arguments.
  std::vector<std::string> Answer(std::vector<std::string> more) const {
    more.insert(more.begin(), {"answer", folder.path()});
    return more;
  }

  const TemporaryFolder folder;
};

TEST_F(AnswerWithVilt, ReadsTheWholeImage) {
  const RegionAnswerer answerer = RegionAnswerer::Load(folder.path());
  EXPECT_FALSE(answerer.reads_boxes());
  const Image image = ReadImage(kImage);
  const std::string question = "Is it a dog?";
  const std::vector<VisualAnswer> answers = answerer.Answer(image, {}, question, 3);
  ASSERT_EQ(answers.size(), 3U);

  const auto model = LoadModel<Vilt>(folder.path(), {.purpose = LoadFor::computing});
  const ImageProcessor processor = LoadImageProcessor(folder.path());
  const Regions patches = PatchRegions(std::vector{processor.Values(processor.Fit(image))}, {4, 4}, 3);
  const Encoding encoding = PipelineTokenizer::Load(folder.path()).Encode(question);
  Context context;
  const Tensor shares = ops::Softmax(model->AnswerLogits(
      context, model->Pool(context, model->Encode(context, encoding.ids, encoding.type_ids,
                                                  {{0, static_cast<std::int32_t>(encoding.ids.size())}}, patches))));
  for (const VisualAnswer& answer : answers) {
    const auto label = std::ranges::find(model->labels(), answer.answer) - model->labels().begin();
    EXPECT_FLOAT_EQ(static_cast<float>(answer.score), shares.data<float>()[label]);
  }

  const std::string row = fmt::format("{:.3f}\t{}\n", answers[0].score, answers[0].answer);
  EXPECT_EQ(RunProgram(Answer({"--image", kImage, "--question", question})).out, row);
  const std::string line = question + "\t" + kImage + "\n";
  EXPECT_EQ(RunProgram(Answer({}), line + line).out, row + row);
  const Json object = ParseJson(RunProgram(Answer({"--json"}), line).out, "row");
  EXPECT_EQ(*object.Find("answer")->As<std::string>(), answers[0].answer);
  EXPECT_THAT(RunProgram({"info", folder.path()}).out, testing::ContainsRegex("patch_height +4\n"));
}

TEST_F(AnswerWithVilt, RefusesWhatItDoesNotRead) {
  const RegionAnswerer answerer = RegionAnswerer::Load(folder.path());
  const Image image = ReadImage(kImage);
  const std::vector<Box> boxes = {{0, 0, 1, 1}};
  EXPECT_THAT(ErrorOf([&] { answerer.Answer(image, boxes, "Is it?"); }), HasSubstr("whole images, and no boxes"));
  EXPECT_THAT(ErrorOf([&] { answerer.Answer({}, {}, "Is it?"); }), HasSubstr("0 x 0"));
  EXPECT_THAT(RefusalOf(Answer({"--image", kImage, "--question", "Is it?", "--detector", kDetector})),
              HasSubstr("--detector is for models that"));
  for (const char* empty : {"", " "})
    EXPECT_THAT(ErrorOf([&] { answerer.Answer(image, {}, empty); }), HasSubstr("the question has no words"));
  EXPECT_THAT(RefusalOf(Answer({"--image", kImage, "--question", "Is it?", "--max-length", "3"})),
              HasSubstr("a fixed set of answers"));

  // The image is narrower than a patch after resizing.
  Image strip{.height = 1, .width = 100};
  strip.pixels.resize(300);
  WriteFile(folder.File("strip.png"), EncodePng(strip));
  EXPECT_THAT(RefusalOf(Answer({"--image", folder.File("strip.png"), "--question", "Is it?"})),
              HasSubstr("too elongated"));
  std::filesystem::remove(folder.File("preprocessor_config.json"));
  EXPECT_THAT(RefusalOf(Answer({"--image", kImage, "--question", "Is it?"})), HasSubstr("preprocessor_config.json"));
}

// Checks that ViLT models cannot be trained, because the training needs boxes.
TEST_F(AnswerWithVilt, CannotBeTrained) {
  const std::string questions = folder.File("questions.jsonl");
  WriteFile(questions, fmt::format("{{\"path\": \"{}\", \"question\": \"Is it?\", \"answer\": \"yes\"}}\n", kImage));
  const Outcome refused = RunProgram({"train", "visual-question-answering", "--train", questions, "--valid", questions,
                                      "--detector", kDetector, "--from", folder.path(), "--out", folder.File("out")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("reads whole images"));
}

}  // namespace
}  // namespace headlight::answer_regions_test
