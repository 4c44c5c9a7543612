#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/colors.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/image_classifier.h"
#include "headlight/pipelines/image_embedder.h"
#include "headlight/pipelines/image_testing.h"

namespace headlight::image_commands_test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kImages = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/";

struct ImageCommands : testing::Test {
  ImageCommands() : model(folder.File("model")), photos(folder.File("photos")) {
    std::filesystem::create_directory(model);
    SaveTinyVit(model);
    std::filesystem::create_directories(photos + "/more");
    std::filesystem::copy(kImages + "rgb.png", photos + "/a.png");
    std::filesystem::copy(kImages + "full_chroma.jpg", photos + "/b.jpg");
    std::filesystem::copy(kImages + "lossy.webp", photos + "/more/c.webp");
    WriteFile(idx, std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02"
                               "abcd",
                               20));
  }

  const TemporaryFolder folder;
  const std::string model, photos;
  const std::string idx = folder.File("t-idx3-ubyte");
  const std::vector<std::string> files = {photos + "/a.png", photos + "/b.jpg", photos + "/more/c.webp"};
};

TEST_F(ImageCommands, ClassifyImagesFromAnywhere) {
  const ImageClassifier classifier = ImageClassifier::Load(model);
  const auto found = classifier.Classify({ReadImage(files[0]), ReadImage(files[1]), ReadImage(files[2])});
  std::string expected;
  for (std::size_t i = 0; i < 3; ++i)
    expected += fmt::format("{}\t{}\t{:.4f}\n", files[i], found[i][0].label, found[i][0].score);
  EXPECT_EQ(RunProgram({"classify", model, photos}).out, expected);
  EXPECT_EQ(RunProgram({"classify", model, files[0], photos + "/b*", photos + "/more"}).out, expected);
  EXPECT_EQ(RunProgram({"classify", model, photos, "--threads", "1"}).out, expected);
  const std::string piped = RunProgram({"classify", model}, ReadFile(files[0])).out;
  EXPECT_EQ(piped.substr(piped.find('\t')), expected.substr(expected.find('\t'), piped.size() - piped.find('\t')));
  EXPECT_THAT(piped, StartsWith("standard input\t"));
  const std::vector<std::string> of_idx = Lines(RunProgram({"classify", model, idx, "--top-k", "2"}).out);
  EXPECT_THAT(of_idx, ElementsAre(StartsWith(idx + "#1\t"), StartsWith(idx + "#2\t")));
  EXPECT_EQ(std::ranges::count(of_idx[0], '\t'), 4);
}

TEST_F(ImageCommands, NoteFormatsThatAreNotRead) {
  EXPECT_EQ(RunProgram({"classify", model, photos}).err.find("left out"), std::string::npos);
  for (const char* name : {"/x.avif", "/more/y.HEIC", "/z.txt"}) WriteFile(photos + name, "");
  EXPECT_THAT(RunProgram({"classify", model, photos}).err, HasSubstr("photos: 2 files are left"));
}

TEST_F(ImageCommands, ClassifyPrintsJson) {
  const std::vector<std::string> rows = Lines(RunProgram({"classify", model, photos, "--json"}).out);
  ASSERT_EQ(rows.size(), 3U);
  const Json row = ParseJson(rows[1], "row");
  EXPECT_EQ(*row.Find("image")->As<std::string>(), files[1]);
  const auto& classes = *row.Find("classes")->As<Json::Array>();
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_GE(*classes[0].Find("score")->As<double>(), *classes[1].Find("score")->As<double>());
  EXPECT_NE(classes[0].Find("label"), nullptr);
  const Json two = ParseJson(Lines(RunProgram({"classify", model, photos, "--json", "--top-k", "2"}).out)[0], "row");
  EXPECT_EQ(two.Find("classes")->As<Json::Array>()->size(), 2U);
}

TEST_F(ImageCommands, ContinueAfterImagesThatCannotBeRead) {
  const std::string good = RunProgram({"classify", model, photos}).out;
  WriteFile(photos + "/bad.png", "no image");
  std::filesystem::copy(kImages + "truncated.jpg", photos + "/more/b.jpg");
  const Outcome refused = RunProgram({"classify", model, photos});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("bad.png: not an image"));
  const Outcome skipped = RunProgram({"classify", model, photos, "--skip-errors"});
  EXPECT_EQ(skipped.exit_code, 0);
  EXPECT_EQ(skipped.out, good);
  EXPECT_THAT(skipped.err, HasSubstr("headlight: " + photos + "/bad.png: not an image"));
  EXPECT_THAT(skipped.err, HasSubstr("2 of 5 images could"));
  const std::vector<std::string> rows = Lines(RunProgram({"classify", model, photos, "--skip-errors", "--json"}).out);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[2], R"({"image":")" + photos +
                         R"(/bad.png","error":"not an image that can be read: JPEG, PNG, WebP, BMP, GIF or TIFF"})");
  EXPECT_THAT(rows[3], StartsWith(R"({"image":")" + photos + R"(/more/b.jpg","error":")"));
  // Only images that the model cannot process must be skipped.
  WriteFile(model + "/preprocessor_config.json",
            R"({"image_processor_type": "ViTImageProcessor", "do_resize": false})");
  const Outcome small = RunProgram({"embed", model, idx, files[0], "--skip-errors", "--json"});
  EXPECT_EQ(small.exit_code, 0);
  ASSERT_EQ(Lines(small.out).size(), 3U);
  EXPECT_THAT(Lines(small.out)[0], HasSubstr("smaller than a patch"));
  EXPECT_THAT(Lines(small.out)[2], HasSubstr("\"vector\":["));
}

TEST_F(ImageCommands, EmbedPrintsWritesOrSearches) {
  const std::vector<float> vector = ImageEmbedder::Load(model).Embed(ReadImage(files[1]));
  const std::vector<std::string> rows = Lines(RunProgram({"embed", model, photos}).out);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_THAT(rows[1], StartsWith(fmt::format("{}\t[{},", files[1], vector[0])));
  const std::vector<std::string> json = Lines(RunProgram({"embed", model, photos, "--json"}).out);
  EXPECT_THAT(json[1], StartsWith(fmt::format(R"({{"image":"{}","vector":[{},)", files[1], vector[0])));

  WriteFile(photos + "/bad.png", "");
  const std::string npy = folder.File("vectors.npy");
  const Outcome written = RunProgram({"embed", model, photos, "--out", npy, "--skip-errors"});
  EXPECT_THAT(Lines(written.out), ElementsAre(files[0], files[1], photos + "/bad.png", files[2]));
  const std::string file = ReadFile(npy);
  EXPECT_THAT(file, HasSubstr("'shape': (4, 16)"));
  std::vector<float> numbers(4 * 16);
  std::memcpy(numbers.data(), file.data() + file.size() - numbers.size() * sizeof(float),
              numbers.size() * sizeof(float));
  EXPECT_EQ(std::vector<float>(numbers.begin() + 16, numbers.begin() + 32), vector);
  EXPECT_NE(numbers[2 * 16], numbers[2 * 16]);

  const std::vector<std::string> found =
      Lines(RunProgram({"embed", model, files[0], files[1], files[2], "--search", files[1], "--top-k", "2"}).out);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], "1.0000\t" + files[1]);
  EXPECT_EQ(Lines(RunProgram({"embed", model, photos, "--search", "-", "--skip-errors"}, ReadFile(files[1])).out)[0],
            found[0]);
  EXPECT_THAT(RunProgram({"embed", model, files[1], "--search", files[1], "--json"}).out,
              StartsWith(R"({"image":")" + files[1] + R"(","score":)"));
}

TEST_F(ImageCommands, KeepStrangeNamesInTheirRows) {
  const std::string odd = folder.File("a\nb\tc\x1b[31m.png");
  std::filesystem::copy(files[0], odd);
  const std::string shown = folder.File("a\\x0ab\\x09c\\x1b[31m.png");
  EXPECT_THAT(Lines(RunProgram({"classify", model, odd}).out), ElementsAre(StartsWith(shown + "\t")));
  EXPECT_THAT(Lines(RunProgram({"embed", model, odd}).out), ElementsAre(StartsWith(shown + "\t[")));
  EXPECT_THAT(Lines(RunProgram({"embed", model, odd, "--search", odd}).out), ElementsAre("1.0000\t" + shown));
  EXPECT_THAT(Lines(RunProgram({"embed", model, odd, "--out", folder.File("a.npy")}).out), ElementsAre(shown));
}

TEST_F(ImageCommands, KeepStrangeLabelsInTheirRows) {
  std::string config = ReadFile(model + "/config.json");
  for (const std::string label : {"cat", "dog", "bird"})
    for (std::size_t at = 0; (at = config.find("\"" + label + "\"", at)) != std::string::npos; at += 10)
      config.insert(at + 1, "a\\nb\\u001b[31m");
  WriteFile(model + "/config.json", config);
  for (const std::string& row : Lines(RunProgram({"classify", model, files[0], "--top-k", "3"}).out))
    EXPECT_THAT(row, StartsWith(files[0] + "\ta\\x0ab\\x1b[31m"));
  const std::string labeled = folder.File("table.tsv");
  WriteFile(labeled, files[0] + "\t0\n" + files[1] + "\t1\n");
  const Outcome evaluated = RunProgram({"evaluate", model, labeled});
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, testing::Not(testing::AnyOf(HasSubstr("\x1b"), HasSubstr("\nb"))));
  EXPECT_THAT(evaluated.out, HasSubstr("a\\x0ab\\x1b[31mdog: precision"));
}

TEST_F(ImageCommands, ClassifyByAnImageGptWithClasses) {
  const TemporaryFolder gpt;
  std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/imagegpt_classes", gpt.path(),
                        std::filesystem::copy_options::recursive);
  WriteFile(gpt.File("preprocessor_config.json"),
            ColorProcessorConfig({4, 6}, std::vector<PaletteColor>(22, PaletteColor{0.5F, 0, -0.5F})).Text());
  const std::vector<std::string> rows = Lines(RunProgram({"classify", gpt.path(), photos}).out);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_THAT(rows[1], StartsWith(files[1] + "\tLABEL_"));
  SaveTinyImageGpt(gpt.path());
  EXPECT_THAT(RefusalOf({"classify", gpt.path(), photos}), HasSubstr("head for classes of images"));
}

TEST_F(ImageCommands, RefuseLargeImagesUnlessAllowed) {
  const std::string table = folder.File("labels.csv"), out = folder.File("out");
  WriteFile(table, "path,label\n" + files[0] + ",a\n" + files[1] + ",b\n");
  const std::string clip = folder.File("clip"), pairs = folder.File("pairs.tsv");
  std::filesystem::create_directory(clip);
  SaveTinyClip(clip);
  WriteFile(pairs, files[0] + "\ta dog\n");
  const std::vector<std::vector<std::string>> commands = {
      {"evaluate", clip, pairs},
      {"classify", model, files[0]},
      {"embed", model, files[0]},
      {"embed", model, "-", "--search", files[0]},
      {"evaluate", model, table, "--train", table, "--knn", "1"},
      {"look", model, "--image", files[0], "--out", out + ".html"},
      {"bench", "images", model, files[0], "--repetitions", "1"},
      {"train", "image-classification", "--train", table, "--validate-split", "0.5", "--out", out},
      {"train", "image-generation", "--train", files[0], "--valid", files[1], "--out", out},
      {"train", "self-distillation", "--train", files[0], "--out", out}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--most-pixels", "5"});
    EXPECT_THAT(RefusalOf(command), HasSubstr("the limit of 5")) << command[0] << " " << command[1];
  }
  EXPECT_EQ(RunProgram({"classify", model, files[0], "--most-pixels", "100000"}).exit_code, 0);
  EXPECT_THAT(RefusalOf({"classify", HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/classify", "--most-pixels", "9"}),
              HasSubstr("--most-pixels is for images, and"));
}

TEST_F(ImageCommands, RefuseWhatHasNoEffectOrDoesNotFit) {
  EXPECT_THAT(RefusalOf({"classify", model, photos, "--truncate"}), HasSubstr("--truncate is for texts"));
  EXPECT_THAT(RefusalOf({"embed", model, photos, "--truncate"}), HasSubstr("--truncate is for texts"));
  EXPECT_THAT(RefusalOf({"classify", model, folder.File("none.jpg")}), EndsWith("no such file or folder\n"));
  EXPECT_THAT(RefusalOf({"embed", model, photos, "--out", files[0]}), HasSubstr("--out"));
  EXPECT_THAT(RefusalOf({"embed", model, photos, "--search", files[0], "--json", "--top-k", "0"}), HasSubstr("--top"));
  EXPECT_THAT(RefusalOf({"embed", model, photos, "--search", "query"}), HasSubstr("query: "));
  const std::string texts = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/classify";
  EXPECT_THAT(RefusalOf({"classify", texts, files[0], files[1]}), HasSubstr("this model reads texts, from"));
  const TemporaryFolder gpt;
  SaveTinyGpt(gpt.path());
  EXPECT_THAT(RefusalOf({"classify", gpt.path(), files[0]}), HasSubstr("encoder"));
  SaveTinyVit(model, /*classes=*/false);
  EXPECT_THAT(RefusalOf({"classify", model, photos}), HasSubstr("head for classes of images"));
}

}  // namespace
}  // namespace headlight::image_commands_test
