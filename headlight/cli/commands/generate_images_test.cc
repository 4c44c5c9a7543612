#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/image/sheet.h"
#include "headlight/image/testing.h"
#include "headlight/io/safetensors.h"
#include "headlight/pipelines/image_generator.h"

namespace headlight::generate_images_test {
namespace {

using testing::HasSubstr;

struct GenerateImages : testing::Test {
  GenerateImages() { SaveTinyImageGpt(model); }

  Image Generated(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"generate", model, "--out", out});
    MustRun(arguments);
    return ReadImage(out);
  }

  const TemporaryFolder folder, files;
  const std::string model = folder.path(), out = files.File("new.png");
};

TEST_F(GenerateImages, WritesASheet) {
  const ImageGenerator generator = ImageGenerator::Load(model);
  EXPECT_EQ(Generated({}), generator.Generate().front());
  EXPECT_EQ(Generated({"--n-best", "5", "--seed", "3", "--temperature", "2", "--top-k", "2", "--top-p", "0.9"}),
            SheetOf(generator.Generate({.count = 5, .temperature = 2, .top_k = 2, .top_p = 0.9, .seed = 3}), 3));
  EXPECT_EQ(Generated({"--n-best", "5", "--columns", "5"}), SheetOf(generator.Generate({.count = 5}), 5));
}

TEST_F(GenerateImages, CompletesImages) {
  const ImageGenerator generator = ImageGenerator::Load(model);
  const std::vector<Image> begun = {Pattern(6, 4), Pattern(12, 9)};
  const std::string one = files.File("one.png"), two = files.File("two.png");
  WritePng(one, begun[0]);
  WritePng(two, begun[1]);
  EXPECT_EQ(Generated({"--image", one}), generator.Complete({begun.data(), 1})[0][0]);
  std::vector<Image> completed;
  for (const std::vector<Image>& of_image : generator.Complete(begun, 3, {.count = 3}))
    completed.insert(completed.end(), of_image.begin(), of_image.end());
  EXPECT_EQ(Generated({"--image", one, two, "--keep-rows", "3", "--n-best", "3"}), SheetOf(completed, 3));
  MustRun({"generate", model, "--image", one, "--out", out});
  const Outcome piped = RunProgram({"generate", model, "--image", "-", "--out", files.File("p.png")}, ReadFile(one));
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(ReadImage(files.File("p.png")), ReadImage(out));
  EXPECT_THAT(RefusalOf({"generate", model, "--image", one, "--out", one}), HasSubstr("--out"));
  EXPECT_THAT(RefusalOf({"generate", model, "--image", one, "--keep-rows", "4", "--out", out}),
              HasSubstr("--keep-rows 4: an image has"));
  const std::string idx = files.File("halves-idx3-ubyte");  // two gray images of 2 x 2 pixels
  WriteFile(idx, std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02", 16) + "abcdefgh");
  const Image second{2, 2, {'e', 'e', 'e', 'f', 'f', 'f', 'g', 'g', 'g', 'h', 'h', 'h'}};
  EXPECT_EQ(Generated({"--image", idx + "#2"}), generator.Complete({&second, 1})[0][0]);
  EXPECT_THAT(RefusalOf({"generate", model, "--image", idx, "--out", out}), HasSubstr("it has 2 images, and"));
  WriteFile(two, "no image");
  EXPECT_THAT(RefusalOf({"generate", model, "--image", two, "--out", out}), HasSubstr("two.png: not an image"));
}

TEST_F(GenerateImages, RefusesOptionsOfTheOtherKindOfModel) {
  const std::vector<std::vector<std::string>> of_texts = {{"a prompt"},
                                                          {"--file", "-"},
                                                          {"--max-new-tokens", "3"},
                                                          {"--beam-size", "2"},
                                                          {"--sample"},
                                                          {"--no-sample"},
                                                          {"--repetition-penalty", "2"},
                                                          {"--stop", "a"},
                                                          {"--batch-tokens", "9"},
                                                          {"--json"},
                                                          {"--skip-errors"},
                                                          {"--draft"},
                                                          {"--length-penalty", "1"},
                                                          {"--min-new-tokens", "1"},
                                                          {"--no-repeat-ngram-size", "2"}};
  for (const std::vector<std::string>& option : of_texts) {
    std::vector<std::string> arguments = {"generate", model, "--out", out};
    arguments.insert(arguments.begin() + 2, option.begin(), option.end());
    EXPECT_THAT(RefusalOf(arguments), HasSubstr("is for models of texts")) << option[0];
  }
  const TemporaryFolder text;
  SaveTinyGpt(text.path());
  for (const std::vector<std::string>& option :
       std::vector<std::vector<std::string>>{{"--out", out}, {"--image", "a.png"}, {"--columns", "2"}}) {
    std::vector<std::string> arguments = {"generate", text.path(), "A dog"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    EXPECT_THAT(RefusalOf(arguments), HasSubstr("is for models of images")) << option[0];
  }
  EXPECT_THAT(RefusalOf({"generate", model}), HasSubstr("--out FILE.png is required"));
  EXPECT_THAT(RefusalOf({"generate", model, "--out", files.File("a.jpg")}), HasSubstr("must end in .png"));
  EXPECT_THAT(RefusalOf({"generate", model, "--out", out, "--keep-rows", "2"}), HasSubstr("--keep-rows needs --image"));
  EXPECT_THAT(RefusalOf({"generate", model, "--out", out, "--columns", "2"}), HasSubstr("--columns 2: there is 1"));
  EXPECT_THAT(RefusalOf({"generate", model, "--out", out, "--n-best", "3", "--columns", "4"}),
              HasSubstr("--columns 4: there are 3"));
  EXPECT_THAT(RefusalOf({"score", model}), HasSubstr("an image generation model, and"));
}

// Checks that a converted folder keeps the colors.
TEST_F(GenerateImages, TakesAConvertedFolder) {
  const std::string small = files.File("int8");
  MustRun({"convert", model, "--out", small, "--compute", "int8"});
  MustRun({"generate", small, "--out", out});
  EXPECT_EQ(ReadImage(out).width, 6);
  MustRun({"generate", model, "--out", out, "--compute", "int4"});
}

TEST_F(GenerateImages, ForwardTakesClasses) {
  const std::string classes = HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/imagegpt_classes";
  const Safetensors golden(classes + "/golden.safetensors");
  const std::string in = files.File("in.safetensors"), result = files.File("out.safetensors");
  WriteSafetensors(in, {golden.At("input_ids"), golden.At("attention_mask")});
  MustRun({"forward", classes, in, "--out", result});
  const Safetensors file(result);
  for (const char* name : {"last_hidden_state", "logits", "attentions.0", "attentions.1"}) {
    const std::vector<float> ours = file.Read(name).ToVector<float>(), theirs = golden.Read(name).ToVector<float>();
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 2e-4) << name << " " << i;
  }
}

}  // namespace
}  // namespace headlight::generate_images_test
