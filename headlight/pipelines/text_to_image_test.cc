#include "headlight/pipelines/text_to_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/image/testing.h"
#include "headlight/kinds/image_coder.h"
#include "headlight/kinds/text_to_image_model.h"
#include "headlight/pipelines/drawing_testing.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/image_text_embedder.h"
#include "headlight/pipelines/testing.h"

namespace headlight::drawer_test {
namespace {

using testing::HasSubstr;
using Texts = std::vector<std::string>;

struct TextToImageTest : testing::Test {
  TextToImageTest() { SaveTinyDalle(folder.path()); }

  const TemporaryFolder folder;
  const Texts texts = {"A dog runs", "Two children"};
};

// Returns the codes of all images of all texts, in order.
std::vector<std::vector<std::int32_t>> CodesOf(const std::vector<std::vector<GeneratedImage>>& images) {
  std::vector<std::vector<std::int32_t>> codes;
  for (const std::vector<GeneratedImage>& of_text : images)
    for (const GeneratedImage& one : of_text) codes.push_back(one.codes);
  return codes;
}

TEST_F(TextToImageTest, DecodesImagesFromCodes) {
  const TextToImage drawer = TextToImage::Load(folder.path());
  EXPECT_EQ(drawer.side(), 8);
  EXPECT_EQ(drawer.rows(), 4);
  std::int64_t told = 0;
  TextToImageOptions options{.count = 3, .seed = 5};
  options.progress = [&](std::int64_t done, std::int64_t all) {
    EXPECT_EQ(all, 6 * 16);
    EXPECT_EQ(done, ++told);
  };
  const auto drawings = drawer.Generate(texts, options);
  ASSERT_EQ(drawings.size(), 2U);
  ASSERT_EQ(drawings[1].size(), 3U);
  EXPECT_EQ(told, 6 * 16);
  for (const GeneratedImage& drawing : drawings[1]) {
    EXPECT_EQ(drawing.codes.size(), 16U);
    EXPECT_TRUE(std::ranges::all_of(drawing.codes, [](std::int32_t code) { return code >= 0 && code < 6; }));
    EXPECT_EQ(drawing.image.height, 8);
    EXPECT_EQ(drawing.image.width, 8);
    EXPECT_EQ(drawing.image, drawer.Decode(drawing.codes));
  }
  EXPECT_NE(drawings[0][0].codes, drawings[0][1].codes);
}

TEST_F(TextToImageTest, TheSameSeedGivesTheSameImagesInAnyBatchOnAnyThread) {
  for (const Compute compute : {Compute::float32, Compute::bfloat16, Compute::int8, Compute::int4}) {
    if (!kernels::CpuHas(compute)) continue;
    const TextToImage drawer = TextToImage::Load(folder.path(), {.compute = compute});
    const auto drawings = drawer.Generate(texts, {.count = 35, .seed = 5});  // more than one batch
    const auto codes = CodesOf(drawings);
    EXPECT_EQ(CodesOf(drawer.Generate(texts, {.count = 35, .seed = 5})), codes);
    EXPECT_EQ(CodesOf(drawer.Generate({texts.data(), 1}, {.count = 1, .seed = 5}))[0], codes[0]) << Name(compute);
    EXPECT_EQ(CodesOf(drawer.Generate({texts.data(), 1}, {.count = 2, .seed = 5}))[1], codes[1]) << Name(compute);
    EXPECT_NE(CodesOf(drawer.Generate({texts.data(), 1}, {.count = 1, .seed = 6}))[0], codes[0]);
    std::vector<std::vector<GeneratedImage>> elsewhere;
    std::thread([&] { elsewhere = drawer.Generate({texts.data(), 1}, {.count = 2, .seed = 5}); }).join();
    EXPECT_EQ(CodesOf(elsewhere), (std::vector(codes.begin(), codes.begin() + 2)));
  }
}

TEST_F(TextToImageTest, GuidanceStrengthensTheText) {
  const TextToImage drawer = TextToImage::Load(folder.path());
  const auto draw = [&](std::size_t text, double guidance) {
    return CodesOf(drawer.Generate({&texts[text], 1}, {.count = 3, .guidance = guidance, .seed = 5}));
  };
  EXPECT_EQ(draw(0, 1), CodesOf(drawer.Generate({texts.data(), 1}, {.count = 3, .seed = 5})));
  EXPECT_EQ(draw(0, 0), draw(1, 0));  // unconditional: independent of the text
  EXPECT_NE(draw(0, 4), draw(1, 4));
  EXPECT_NE(draw(0, 4), draw(0, 1));
  // Images must be the same in several batches, and as completions of given rows.
  const std::vector<std::vector<GeneratedImage>> many = drawer.Generate(texts, {.count = 35, .guidance = 4, .seed = 5});
  EXPECT_EQ((std::vector{many[0][0].codes, many[0][1].codes, many[0][2].codes}), draw(0, 4));
  const TextToImageOptions guided{.count = 3, .guidance = 4, .seed = 5};
  EXPECT_EQ(CodesOf(drawer.Complete({texts.data(), 1}, Pattern(8, 8), 0, guided)), draw(0, 4));
  EXPECT_THAT(ErrorOf([&] { draw(0, -1); }), HasSubstr("`guidance` must be a number"));
}

// Uses texts of different lengths in one batch and, for guidance, the empty text.
TEST(DalleMiniTextToImage, IsBatchInvariant) {
  const Texts texts = {"a dog", "children", "x"};
  for (const auto& [compute, guidance] :
       {std::pair(Compute::float32, 1.0), std::pair(Compute::float32, 4.0), std::pair(Compute::bfloat16, 4.0),
        std::pair(Compute::int8, 4.0), std::pair(Compute::int4, 4.0)}) {
    if (!kernels::CpuHas(compute)) continue;
    const TextToImage drawer =
        TextToImage::Load(HEADLIGHT_SOURCE_DIR "/tests/testdata/dalle/dalle_mini", {.compute = compute});
    EXPECT_EQ(drawer.side(), 64);
    TextToImageOptions options{.count = 22, .guidance = guidance, .seed = 5};
    const auto codes = CodesOf(drawer.Generate(texts, options));  // more than one batch
    options.count = 1;
    EXPECT_EQ(drawer.Generate(texts[0], options)[0].codes, codes[0]) << Name(compute);
    EXPECT_NE(codes[0], codes[1]);
    options.first_stream = 22;
    EXPECT_EQ(drawer.Generate(texts[1], options)[0].codes, codes[22]) << Name(compute);
  }
}

TEST_F(TextToImageTest, SamplesFromTheMostLikely) {
  const TextToImage drawer = TextToImage::Load(folder.path());
  const std::vector<GeneratedImage> greedy = drawer.Generate(texts[0], {.count = 2, .top_k = 1, .seed = 1});
  EXPECT_EQ(greedy[0].codes, greedy[1].codes);
  EXPECT_EQ(drawer.Generate(texts[0], {.temperature = 1e-4, .seed = 2})[0].codes, greedy[0].codes);
  EXPECT_EQ(drawer.Generate(texts[0], {.top_p = 1e-6, .seed = 3})[0].codes, greedy[0].codes);
}

TEST_F(TextToImageTest, KeepsGivenRows) {
  const TextToImage drawer = TextToImage::Load(folder.path());
  const Image begun = Pattern(16, 12);  // Complete and Encode resize the central square
  const std::vector<std::int32_t> codes = drawer.Encode(begun);
  ASSERT_EQ(codes.size(), 16U);
  for (const std::int64_t rows : {0, 1, 3})
    for (const std::vector<std::int32_t>& found : CodesOf(drawer.Complete(texts, begun, rows, {.count = 2, .seed = 2})))
      EXPECT_TRUE(std::equal(codes.begin(), codes.begin() + rows * 4, found.begin())) << rows;
  EXPECT_EQ(CodesOf(drawer.Complete(texts, begun)), CodesOf(drawer.Complete(texts, begun, 2)));
  EXPECT_EQ(CodesOf(drawer.Complete(texts, begun, 0, {.count = 2, .seed = 9})),
            CodesOf(drawer.Generate(texts, {.count = 2, .seed = 9})));
  EXPECT_THAT(ErrorOf([&] { drawer.Complete(texts, begun, 4); }), HasSubstr("0 to 3 rows"));
}

TEST_F(TextToImageTest, IsRankedByDotProducts) {
  const TemporaryFolder clip;
  SaveTinyClip(clip.path());
  const ImageTextEmbedder ranker = ImageTextEmbedder::Load(clip.path());
  std::vector<GeneratedImage> drawings = TextToImage::Load(folder.path()).Generate(texts[0], {.count = 5});
  drawings.push_back(drawings[2]);  // images with the same score keep their order
  const std::vector<RankedImage> ranked = RankImages(ranker, texts[0], drawings);
  ASSERT_EQ(ranked.size(), 6U);
  const std::vector<float> text = ranker.EmbedText(texts[0]);
  std::vector<bool> seen(6);
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& [drawing, score] = ranked[i];
    seen[drawing] = true;
    const std::vector<float> vector = ranker.EmbedImage(drawings[drawing].image);
    double product = 0;
    for (std::size_t j = 0; j < 10; ++j) product += double{text[j]} * vector[j];
    EXPECT_NEAR(score, product, 1e-6);
    if (i > 0) {
      EXPECT_LE(score, ranked[i - 1].score);
    }
    if (drawing == 2) {
      EXPECT_EQ(ranked[i + 1].index, 5U);
    }
  }
  EXPECT_EQ(seen, std::vector(6, true));
  EXPECT_GT(ranked.front().score, ranked.back().score);
  EXPECT_TRUE(RankImages(ranker, texts[0], {}).empty());
  const std::string text_of_many(1'000, 'a');
  EXPECT_THAT(ErrorOf([&] { RankImages(ranker, text_of_many, drawings); }), HasSubstr("text 1"));
}

TEST_F(TextToImageTest, CanBeCancelled) {
  const TextToImage drawer = TextToImage::Load(folder.path());
  int asked = 0;
  EXPECT_THROW(drawer.Generate(texts, {.cancelled = [&] { return ++asked == 4; }}), Cancelled);
  EXPECT_EQ(asked, 4);
}

TEST_F(TextToImageTest, RefusesInvalidInput) {
  const TextToImage drawer = TextToImage::Load(folder.path());
  const auto draw = [&](const std::string& text) { return ErrorOf([&] { drawer.Generate(text); }); };
  EXPECT_THAT(draw(""), HasSubstr("text 1: the text has"));
  EXPECT_THAT(draw("dog \xff"), HasSubstr("text 1"));
  EXPECT_THAT(draw("A dog runs across the meadow, and two children play and laugh at it all day long, day by day"),
              HasSubstr("reads at most 12"));
  EXPECT_THAT(ErrorOf([&] { drawer.Generate(texts, {.count = 0}); }), HasSubstr("`count`"));
  EXPECT_THAT(ErrorOf([&] { drawer.Generate(texts, {.temperature = 0}); }), HasSubstr("temperature"));
  EXPECT_THAT(ErrorOf([&] { drawer.Decode(std::vector<std::int32_t>(16, 6)); }), HasSubstr("code 6"));
  EXPECT_THAT(ErrorOf([&] { drawer.Decode(std::vector<std::int32_t>(15)); }), HasSubstr("15 codes"));
  EXPECT_THAT(ErrorOf([&] { TextToImage::Load(folder.path(), {.draft = true}); }), HasSubstr("draft"));
  EXPECT_THAT(ErrorOf([&] { TextToImage::Load(folder.File("vae")); }), HasSubstr("a text-to-image model is needed"));
  DiscreteVae other({.image = 8, .codes = 7, .code_width = 4, .layers = 1, .blocks = 1, .hidden = 8});
  other.parameters().Initialize(1);
  other.Save(folder.File("vae"));
  EXPECT_THAT(ErrorOf([&] { TextToImage::Load(folder.path()); }), HasSubstr("has 4 x 4 of"));
  std::filesystem::remove_all(folder.File("vae"));
  EXPECT_THAT(ErrorOf([&] { TextToImage::Load(folder.path()); }), HasSubstr("vae: no such folder"));
}

TEST_F(TextToImageTest, RefusesDamagedWeights) {
  DamageWeights(folder.File("vae"));
  const TextToImage drawer = TextToImage::Load(folder.path());
  EXPECT_THAT(ErrorOf([&] { drawer.Generate(texts[0]); }), HasSubstr("vae/model.safetensors: decoding an image"));
  EXPECT_THAT(ErrorOf([&] { drawer.Encode(Pattern(8, 8)); }), HasSubstr("vae/model.safetensors: encoding an image"));
}

}  // namespace
}  // namespace headlight::drawer_test
