// Tests headlight look with images, two models, checkpoints and proteins.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "headlight/cli/commands/look_structure.h"
#include "headlight/cli/program/testing.h"
#include "headlight/cli/train/training_moments.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/vit.h"
#include "headlight/pipelines/dual_testing.h"

namespace headlight::look_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kImage[] = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.jpg";

// Saves a tiny image encoder for images of 3 x 2 patches.
std::string SaveVit(const TemporaryFolder& folder, const std::string& name, std::uint64_t seed) {
  Vit vit({.model = 12, .layers = 2, .heads = 2, .ffn = 8, .image = {24, 16}, .patch = {8, 8}});
  vit.parameters().Initialize(seed);
  const std::string path = folder.File(name);
  std::filesystem::create_directory(path);
  vit.Save(path);
  WriteFile(path + "/preprocessor_config.json",
            R"({"image_processor_type": "ViTImageProcessor", "size": {"height": 24, "width": 16}})");
  return path;
}

TEST(WritePage, NotesThatAPageIsLarge) {
  const TemporaryFolder folder;
  const auto note_of = [&](std::size_t bytes) {
    testing::internal::CaptureStderr();
    WritePage(folder.File("a.html"), std::string(bytes, ' '));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(note_of(20'000'000), "");
  EXPECT_THAT(note_of(21'000'000), AllOf(HasSubstr("a.html has 21 MB"), HasSubstr("--layer")));
}

TEST(LookAtAnImage, MakesPagesAndSheets) {
  const TemporaryFolder folder;
  const std::string vit = SaveVit(folder, "vit", 1), page = folder.File("a.html"), sheet = folder.File("a.png");
  const Outcome outcome = RunProgram({"look", vit, "--image", kImage, "--out", page, "--out", sheet, "--out",
                                      folder.File("a.svg"), "--out", folder.File("a.pdf")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("a.html shows 2 attentions of 7 tokens"));
  EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("\"class token\",\"1·1\",\"1·2\",\"2·1\""), HasSubstr("\"mass\":null"),
                                    HasSubstr("Attention rollout (encoder)")));
  EXPECT_THAT(ReadFile(sheet), StartsWith("\x89PNG"));
  EXPECT_THAT(ReadFile(folder.File("a.svg")), HasSubstr("data:image"));
  EXPECT_THAT(ReadFile(folder.File("a.pdf")), StartsWith("%PDF"));

  // Checks that standard input, another patch, masks and a single layer each change the drawing.
  const std::string image = ReadFile(kImage), before = ReadFile(sheet);
  MustRun({"look", vit, "--image", kImage, "--patch", "3:2", "--out", sheet});
  const std::string patch = ReadFile(sheet);
  EXPECT_NE(patch, before);
  ASSERT_EQ(RunProgram({"look", vit, "--image", "-", "--patch", "3:2", "--out", sheet}, image).exit_code, 0);
  EXPECT_EQ(ReadFile(sheet), patch);
  MustRun({"look", vit, "--image", kImage, "--mass", "0.6", "--out", sheet, "--out", page});
  EXPECT_NE(ReadFile(sheet), before);
  EXPECT_THAT(ReadFile(page), HasSubstr("\"mass\":0.6"));
  MustRun({"look", vit, "--image", kImage, "--layer", "2", "--out", page});
  EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("\"layer\":2"), Not(HasSubstr("\"layer\":1"))));
  MustRun({"look", vit, "--image", kImage, "--layer", "2", "--attention", "rollout", "--out", page});
  EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("Attention rollout"), Not(HasSubstr("Encoder self-attention"))));
}

TEST(LookAtAnImage, RefusesWhatDoesNotFit) {
  const TemporaryFolder folder;
  const std::string vit = SaveVit(folder, "vit", 1), page = folder.File("a.html");
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"look", vit, "--out", page});
    return RefusalOf(arguments);
  };
  EXPECT_THAT(refusal({"--text", "a"}), HasSubstr("give it with --image"));
  EXPECT_THAT(refusal({"--image", folder.File("none.jpg")}), HasSubstr("none.jpg"));
  EXPECT_THAT(refusal({"--image", HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/truncated.png"}),
              HasSubstr("truncated.png"));
  for (const char* patch : {"0:1", "4:1", "1:3", "1", "1:2x", "a", "-1:1", "99999999999:1"})
    EXPECT_THAT(refusal({"--image", kImage, "--patch", patch}), HasSubstr("--patch must be ROW:COLUMN, from")) << patch;
  EXPECT_THAT(refusal({"--image", kImage, "--mass", "0"}), HasSubstr("--mass must be above 0"));
  EXPECT_THAT(refusal({"--image", kImage, "--layer", "3"}), HasSubstr("layer 3: the model has"));
  EXPECT_THAT(refusal({"--image", kImage, "--attention", "cross"}), HasSubstr("attention cross"));
  const auto refusal_of = [&](const std::string& model) {
    const TemporaryFolder other;
    std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/tests/testdata/" + model, other.path());
    WriteFile(other.File("preprocessor_config.json"), R"({"image_processor_type": "ViTImageProcessor"})");
    return RefusalOf({"look", other.path(), "--out", page, "--image", kImage});
  };
  EXPECT_THAT(refusal_of("resnets/bottleneck"), HasSubstr("a convolutional network has no"));
  EXPECT_THAT(refusal_of("images/vit_oblong"), HasSubstr("images with 1 channels"));
  EXPECT_FALSE(std::filesystem::exists(page));
}

TEST(LookAtAnImage, ShowsTheClassActivationsOfAResnet) {
  const TemporaryFolder folder;
  const std::string resnet = folder.File("resnet"), page = folder.File("a.html"), sheet = folder.File("a.png");
  std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/tests/testdata/resnets/downsampled_classes", resnet);
  WriteFile(resnet + "/preprocessor_config.json", R"({"image_processor_type": "ViTImageProcessor"})");
  const Outcome outcome = RunProgram({"look", resnet, "--image", kImage, "--out", page, "--out", sheet});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("a.html shows 1 map of"));
  EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("\"relevance\":true"), HasSubstr("\"LABEL_")));
  const auto refusal = [&](const std::string& option, const std::string& value) {
    return RefusalOf({"look", resnet, "--image", kImage, "--out", page, option, value});
  };
  EXPECT_THAT(refusal("--attention", "encoder"), HasSubstr("--attention: "));
  EXPECT_THAT(refusal("--patch", "1:1"), HasSubstr("--patch: "));
}

// Checks that a dual encoder with an image and a text shows the attribution of their similarity score.
TEST(LookAtAnImage, AndItsScoreWithAText) {
  const TemporaryFolder folder, clip, siglip;
  SaveTinyClip(clip.path());
  SaveTinySiglip(siglip.path());
  const std::string page = folder.File("a.html"), sheet = folder.File("a.svg");
  for (const std::string& model : {clip.path(), siglip.path()}) {
    const Outcome outcome =
        RunProgram({"look", model, "--image", kImage, "--text", "two dogs", "--out", page, "--out", sheet});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("a.html shows 2 maps of"));
    EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("\"relevance\":true"), HasSubstr("\"tokens\":[\"two dogs\"]"),
                                      Not(HasSubstr("self-attention"))));
    const std::string before = ReadFile(sheet);
    MustRun({"look", model, "--image", kImage, "--text", "a meadow", "--mass", "0.5", "--layer", "2", "--out", page,
             "--out", sheet});
    EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("\"layer\":2"), Not(HasSubstr("\"layer\":1"))));
    EXPECT_NE(ReadFile(sheet), before);
  }
  // Gradients are also available with int8 weights.
  const std::string int8 = folder.File("int8");
  MustRun({"convert", clip.path(), "--out", int8, "--compute", "int8"});
  MustRun({"look", int8, "--image", kImage, "--text", "two dogs", "--out", page});

  const auto refusal = [&](const std::string& model, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"look", model, "--image", kImage, "--out", page, "--text"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RefusalOf(arguments);
  };
  EXPECT_THAT(refusal(clip.path(), {"dogs", "--patch", "1:1"}), HasSubstr("--patch: "));
  EXPECT_THAT(refusal(clip.path(), {"dogs", "--attention", "rollout"}), HasSubstr("--attention: "));
  EXPECT_THAT(refusal(clip.path(), {"dogs", "--layer", "3"}), HasSubstr("it has: relevance 1, relevance"));
  EXPECT_THAT(refusal(clip.path(), {"dogs", "--second", "cats"}), HasSubstr("no second text"));
  EXPECT_THAT(refusal(clip.path(), {"dogs\xff"}), HasSubstr("UTF-8"));
  EXPECT_THAT(refusal(SaveVit(folder, "vit", 1), {"dogs"}), HasSubstr("--text with --image is for"));
  SaveTinyClip(clip.path(), /*positions=*/3);
  EXPECT_THAT(refusal(clip.path(), {"two small dogs"}), HasSubstr("reads at most 3"));
  SaveTinyClip(clip.path());
  DamageWeights(clip.path());
  EXPECT_THAT(refusal(clip.path(), {"dogs"}), HasSubstr("model.safetensors: scoring an image"));
}

TEST(LookAtAnImage, OfADetector) {
  const TemporaryFolder folder;
  const std::string detr = HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/detr";
  const std::string page = folder.File("a.html"), sheet = folder.File("a.svg");
  const Outcome outcome =
      RunProgram({"look", detr, "--image", kImage, "--threshold", "0", "--out", page, "--out", sheet});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("a.html shows 4 attentions of 6 source and 3 target tokens"));
  EXPECT_THAT(outcome.err, HasSubstr("a.svg shows 2 attentions"));
  EXPECT_THAT(ReadFile(page), HasSubstr("\"boxes\":[["));
  const std::string boxes = ReadFile(sheet);
  MustRun({"look", detr, "--image", kImage, "--threshold", "0", "--patch", "2:3", "--out", sheet, "--out", page});
  EXPECT_NE(ReadFile(sheet), boxes);
  MustRun(
      {"look", detr, "--image", kImage, "--threshold", "0", "--attention", "cross", "--layer", "2", "--out", sheet});
  for (const char* attention : {"encoder", "rollout"})
    MustRun({"look", detr, "--image", kImage, "--attention", attention, "--out", sheet, "--out", page});
  EXPECT_THAT(RunProgram({"look", detr, "--image", kImage, "--threshold", "1", "--out", page}).err,
              HasSubstr("no object is found"));
  const auto refusal = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"look", detr, "--out", sheet};
    command.insert(command.end(), more.begin(), more.end());
    return RefusalOf(command);
  };
  EXPECT_THAT(refusal({"--text", "a"}), HasSubstr("a detector reads an image"));
  EXPECT_THAT(refusal({"--image", kImage, "--threshold", "1", "--attention", "cross"}),
              HasSubstr("no object is found with"));
  EXPECT_THAT(refusal({"--image", kImage, "--layer", "3"}), HasSubstr("layer 3: the model has"));
  EXPECT_THAT(refusal({"--image", kImage, "--threshold", "0", "--patch", "3:9"}), HasSubstr("--patch must be"));
  EXPECT_THAT(refusal({"--image", kImage, "--patch", "1:1", "--attention", "cross"}),
              HasSubstr("--patch is for the encoder's"));
  for (const char* attention : {"encoder", "rollout"})
    EXPECT_THAT(refusal({"--image", kImage, "--threshold", "0.1", "--attention", attention}),
                HasSubstr("--threshold chooses boxes"));
  EXPECT_THAT(RefusalOf({"look", HEADLIGHT_SOURCE_DIR "/tests/testdata/images/vit", "--image", kImage, "--threshold",
                         "0.5", "--out", sheet}),
              HasSubstr("--threshold is for detectors"));
}

TEST(LookAtAnImage, OfAModelThatReadsPixels) {
  const TemporaryFolder folder;
  const std::string model = folder.File("imagegpt"), page = folder.File("a.html"), sheet = folder.File("a.png");
  std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/imagegpt", model);
  std::string clusters;
  for (int color = 0; color < 22; ++color)
    clusters += fmt::format("{}[{}, 0, {}]", color == 0 ? "" : ", ", color / 11.0 - 1, 1 - color / 11.0);
  WriteFile(model + "/preprocessor_config.json",
            R"({"image_processor_type": "ImageGPTImageProcessor", "size": {"height": 4, "width": 6}, "clusters": [)" +
                clusters + "]}");
  const Outcome outcome = RunProgram({"look", model, "--image", kImage, "--out", page, "--out", sheet});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("attentions of 24 tokens"));
  EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("\"start\",\"1·1\""), HasSubstr("\"query\":23")));
  const std::string last = ReadFile(sheet);
  MustRun({"look", model, "--image", kImage, "--patch", "2:1", "--out", sheet});
  EXPECT_NE(ReadFile(sheet), last);
  EXPECT_THAT(RefusalOf({"look", model, "--image", kImage, "--patch", "4:6", "--out", sheet}),
              HasSubstr("the last pixel"));
  EXPECT_THAT(RefusalOf({"look", model, "--text", "a", "--out", sheet}), HasSubstr("give it with --image"));
}

struct LookAgainst : ProgramTest {};

TEST_F(LookAgainst, ShowsTwoModels) {
  const std::string other = folder.File("other"), page = folder.File("a.html");
  std::filesystem::copy(model, other);
  MustRun({"look", model, "--against", other, "--source", "Hund", "--target", "dog", "--out", page});
  EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("<title>model and other</title>"), HasSubstr("\"name\":\"model\""),
                                    HasSubstr("\"name\":\"other\""), HasSubstr("\"slider\":false")));
  EXPECT_THAT(RefusalOf({"look", model, "--against", other, "--source", "Hund", "--out", folder.File("a.png")}),
              HasSubstr("--against needs an --out that"));
  EXPECT_THAT(RefusalOf({"look", model, "--image", kImage, "--out", page}), HasSubstr("reads no image"));
  EXPECT_THAT(RefusalOf({"look", model, "--against", other, "--source", "Hund", "--out", other + "/config.json.html",
                         "--out", other + "/config.json.html"}),
              HasSubstr("--out"));
}

// A training run that keeps the weights of its last two validations.
struct LookAtATraining : testing::Test {
  void Train(const std::vector<std::string>& further) const {
    const std::string tokenizer = folder.File("tokenizer"), texts = folder.File("texts");
    std::filesystem::create_directory(tokenizer);
    std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_gpt2.json",
                          tokenizer + "/tokenizer.json");
    std::string lines;
    for (int i = 0; i < 20; ++i) lines += "the dog runs\n\na man and a dog play\n";
    WriteFile(texts, lines);
    std::vector<std::string> arguments = {"train", "language-model", "--train", texts, "--valid", texts, "--out", out};
    for (const char* more : {"--layers", "1", "--model-dim", "16", "--heads", "2", "--positions", "16", "--steps", "6",
                             "--batch-tokens", "64", "--validate-every", "2", "--average-last", "3", "--quiet"})
      arguments.emplace_back(more);
    arguments.insert(arguments.end(), {"--tokenizer", tokenizer});
    arguments.insert(arguments.end(), further.begin(), further.end());
    MustRun(arguments);
  }
  TemporaryFolder folder;
  const std::string out = folder.File("run"), page = folder.File("a.html");
};

TEST_F(LookAtATraining, ShowsItsMoments) {
  Train({});
  const Outcome outcome = RunProgram({"look", out, "--checkpoints", "--text", "a dog", "--out", page});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string text = ReadFile(page);
  EXPECT_THAT(text,
              AllOf(HasSubstr("<title>run</title>"), HasSubstr("\"name\":\"step 2"), HasSubstr("\"name\":\"step 4"),
                    HasSubstr("\"name\":\"step 6"), HasSubstr("\"slider\":true")));
  // The weights of each checkpoint differ.
  std::set<std::string> weights;
  for (std::size_t at = text.find("\"weights\""); at != text.npos; at = text.find("\"weights\"", at + 1))
    weights.insert(text.substr(at, text.find(']', at) - at));
  EXPECT_GE(weights.size(), 3U);
  EXPECT_THAT(RefusalOf({"look", out, "--checkpoints", "--text", "a", "--out", folder.File("a.png")}),
              HasSubstr("--checkpoints needs an --out that"));
  std::filesystem::remove_all(out + "/checkpoint");
  EXPECT_THAT(RefusalOf({"look", out, "--checkpoints", "--text", "a", "--out", page}),
              HasSubstr("training that has a checkpoint"));
}

TEST_F(LookAtATraining, HasTheFrozenParametersInEachMoment) {
  Train({"--freeze", "*.h.0.*", "--freeze", "*.wpe.*"});
  MustRun({"look", out, "--checkpoints", "--text", "a dog", "--out", page});
  EXPECT_THAT(ReadFile(page),
              AllOf(HasSubstr("\"name\":\"step 2"), HasSubstr("\"name\":\"step 4"), HasSubstr("\"name\":\"step 6")));
  const TrainingMoments moments(out);
  ASSERT_EQ(moments.all().size(), 3U);
  std::set<std::vector<float>> frozen, trained;
  for (const TrainingMoment& moment : moments.all()) {
    const Safetensors weights = OpenWeights(moment.folder);
    frozen.insert(weights.Read("transformer.h.0.attn.c_attn.weight").ToVector<float>());
    trained.insert(weights.Read("transformer.wte.weight").ToVector<float>());
  }
  EXPECT_EQ(frozen.size(), 1U);
  EXPECT_EQ(trained.size(), 3U);
}

struct LookAtAProtein : ProgramTest {};

TEST_F(LookAtAProtein, ShowsHowAProteinFolds) {
  const std::string fold = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/model";
  const std::string page = folder.File("fold.html"), image = folder.File("fold.png");
  MustRun({"look", fold, "--sequence", "MKVLAEYTWGRD", "--residue", "3", "--out", page, "--out", image});
  EXPECT_THAT(ReadFile(page), HasSubstr(R"("letters":"MKVLAEYTWGRD")"));
  EXPECT_GT(std::filesystem::file_size(image), 5000U);
  const std::string alignment = Write("query.a3m", ">query\nMKVLA\n>other\nMK-LA\n");
  MustRun({"look", fold, "--msa", alignment, "--layer", "1", "--out", page});
  EXPECT_THAT(ReadFile(page), HasSubstr(R"("letters":"MKVLA")"));
  EXPECT_THAT(RefusalOf({"look", fold, "--out", page}), HasSubstr("needs --msa or --sequence"));
  EXPECT_THAT(RefusalOf({"look", fold, "--sequence", "MK", "--text", "a", "--out", page}),
              HasSubstr("--text is not for structure"));
  EXPECT_THAT(RefusalOf({"look", fold, "--sequence", "MK", "--residue", "3", "--out", image}),
              HasSubstr("--residue 3: the chain has"));
  EXPECT_THAT(RefusalOf({"look", fold, "--sequence", "MK", "--layer", "9", "--out", page}),
              HasSubstr("there is no layer 9"));
  EXPECT_THAT(RefusalOf({"look", model, "--source", "Hund", "--sequence", "MK", "--out", page}),
              HasSubstr("--sequence is for structure"));
}

}  // namespace
}  // namespace headlight::look_test
