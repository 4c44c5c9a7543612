#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/image/processor.h"
#include "headlight/image/sheet.h"
#include "headlight/image/testing.h"
#include "headlight/io/safetensors.h"
#include "headlight/ops/linear.h"
#include "headlight/pipelines/drawing_testing.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/image_text_embedder.h"
#include "headlight/pipelines/text_to_image.h"
#include "headlight/pipelines/text_to_image_prompt.h"
#include "headlight/train/objectives/text_to_image.h"

namespace headlight::draw_test {
namespace {

using testing::HasSubstr;

struct Draw : testing::Test {
  Draw() { SaveTinyDalle(model); }

  Image Drawn(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"draw", model});
    arguments.insert(arguments.end(), {"--out", out});
    MustRun(arguments);
    return ReadImage(out);
  }
  static Image Sheet(const std::vector<std::vector<GeneratedImage>>& drawings, std::int64_t columns) {
    std::vector<Image> images;
    for (const std::vector<GeneratedImage>& of_text : drawings)
      for (const GeneratedImage& drawing : of_text) images.push_back(drawing.image);
    return SheetOf(images, columns);
  }

  const TemporaryFolder folder, files;
  const std::string model = folder.path(), out = files.File("new.png");
  const std::vector<std::string> texts = {"A dog runs", "Two children"};
};

TEST_F(Draw, WritesAnImageOrASheet) {
  const TextToImage drawer = TextToImage::Load(model);
  EXPECT_EQ(Drawn({texts[0]}), drawer.Generate(texts[0]).front().image);
  EXPECT_EQ(Drawn({texts[0], "--n-best", "5", "--seed", "3", "--temperature", "2", "--top-k", "4", "--top-p", "0.9"}),
            Sheet(drawer.Generate({texts[0]}, {.count = 5, .temperature = 2, .top_k = 4, .top_p = 0.9, .seed = 3}), 3));
  EXPECT_EQ(Drawn({texts[0], texts[1], "--n-best", "3"}), Sheet(drawer.Generate(texts, {.count = 3}), 3));
  EXPECT_EQ(Drawn({texts[0], "--n-best", "4", "--columns", "4", "--compute", "int8"}),
            Sheet(TextToImage::Load(model, {.compute = Compute::int8}).Generate({texts[0]}, {.count = 4}), 4));
}

TEST_F(Draw, WritesEachDrawingOfManyTextsIntoAFolder) {
  const std::string lines = files.File("texts.txt"), drawn = files.File("drawn");
  std::vector<std::string> many;
  // There are more texts than one group contains.
  for (int i = 0; i < 90; ++i) many.push_back(texts[static_cast<std::size_t>(i % 2)]);
  WriteFile(lines, fmt::format("{}\n", fmt::join(std::span(many).subspan(1), "\n")));
  const auto drawings = TextToImage::Load(model).Generate(many, {.count = 3, .seed = 2});
  const Outcome outcome =
      RunProgram({"draw", model, many[0], "--file", lines, "--n-best", "3", "--seed", "2", "--out", drawn, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> rows = Lines(outcome.out);
  ASSERT_EQ(rows.size(), 270U);
  for (std::size_t i = 0; i < 270; ++i) {
    const JsonView row(ParseJson(rows[i], "row"), "row");
    EXPECT_EQ(row["image"].String(), fmt::format("{}/{}-{}.png", drawn, i / 3 + 1, i % 3 + 1));
    EXPECT_EQ(row["text"].String(), many[i / 3]);
    EXPECT_EQ(ReadImage(row["image"].String()), drawings[i / 3][i % 3].image) << i;
  }
  MustRun({"draw", model, texts[0], "--seed", "2", "--out", drawn + "/"});
  EXPECT_EQ(ReadImage(drawn + "/1.png"), drawings[0][0].image);
  EXPECT_THAT(RefusalOf({"draw", model, "a", "--columns", "1", "--out", drawn}), HasSubstr("drawn is a folder"));
  EXPECT_THAT(RefusalOf({"draw", model, "a", "--out", lines + "/x"}), HasSubstr("texts.txt"));
  WriteFile(lines, "");
  EXPECT_THAT(RefusalOf({"draw", model, "--file", lines, "--out", drawn}), HasSubstr("texts.txt: has no lines"));
  WriteFile(lines, "A dog\n\n");
  EXPECT_THAT(RefusalOf({"draw", model, "--file", lines, "--out", drawn}), HasSubstr("texts.txt: line 2: "));
}

TEST_F(Draw, PrintsCodes) {
  const TextToImage drawer = TextToImage::Load(model);
  const Outcome outcome = RunProgram({"draw", model, texts[0], texts[1], "--n-best", "2", "--guidance", "3", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = Lines(outcome.out);
  const auto drawings = drawer.Generate(texts, {.count = 2, .guidance = 3});
  ASSERT_EQ(lines.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const JsonView line(ParseJson(lines[i], "line"), "line");
    EXPECT_EQ(line["text"].String(), texts[i / 2]);
    EXPECT_EQ(line["index"].Integer(), static_cast<std::int64_t>(i % 2) + 1);
    std::vector<std::int32_t> codes;
    for (const JsonView& code : line["codes"].Items()) codes.push_back(static_cast<std::int32_t>(code.Integer()));
    EXPECT_EQ(codes, drawings[i / 2][i % 2].codes);
  }
}

TEST_F(Draw, OrdersImagesBySimilarityToTheirText) {
  const std::string clip = files.File("clip");
  std::filesystem::create_directory(clip);
  SaveTinyClip(clip);
  const ImageTextEmbedder ranker = ImageTextEmbedder::Load(clip);
  const auto drawings = TextToImage::Load(model).Generate(texts, {.count = 6});
  std::vector<std::vector<GeneratedImage>> best(2);  // the best three images of each text
  std::vector<std::string> rows;
  for (std::size_t text = 0; text < 2; ++text) {
    const std::vector<RankedImage> ranked = RankImages(ranker, texts[text], drawings[text]);
    for (std::size_t i = 0; i < 3; ++i) {
      best[text].push_back(drawings[text][ranked[i].index]);
      rows.push_back(fmt::format("{} {} {:.5f}", texts[text], ranked[i].index + 1, ranked[i].score));
    }
  }
  EXPECT_EQ(Drawn({texts[0], texts[1], "--n-best", "3", "--reranker", clip, "--best-of", "6"}), Sheet(best, 3));
  const Outcome outcome =
      RunProgram({"draw", model, texts[0], texts[1], "--n-best", "3", "--reranker", clip, "--best-of", "6", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<std::string> printed;
  for (const std::string& row : Lines(outcome.out)) {
    const JsonView line(ParseJson(row, "line"), "line");
    printed.push_back(
        fmt::format("{} {} {:.5f}", line["text"].String(), line["index"].Integer(), line["score"].Number()));
    EXPECT_EQ(line["codes"].Items().size(), 16U);
  }
  EXPECT_EQ(printed, rows);
  std::vector<std::vector<GeneratedImage>> all(1);
  for (const RankedImage& one : RankImages(ranker, texts[0], drawings[0])) all[0].push_back(drawings[0][one.index]);
  EXPECT_EQ(Drawn({texts[0], "--n-best", "6", "--reranker", clip}), Sheet(all, 3));

  const auto refusal = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"draw", model, texts[0], "--out", out, "--reranker"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RefusalOf(arguments);
  };
  EXPECT_THAT(refusal({clip, "--best-of", "2", "--n-best", "3"}), HasSubstr("--n-best 3: must be at most"));
  EXPECT_THAT(refusal({clip, "--best-of", "0"}), HasSubstr("--best-of must be from 1"));
  EXPECT_THAT(refusal({model}), HasSubstr("model"));
  EXPECT_THAT(refusal({files.File("none")}), HasSubstr("no such folder"));
  SaveTinyClip(clip, /*positions=*/3);
  EXPECT_THAT(refusal({clip}), HasSubstr("--reranker: text 1: "));
  SaveTinyClip(clip);
  DamageWeights(clip);
  EXPECT_THAT(refusal({clip}), HasSubstr(clip + "/model.safetensors: embedding "));
}

TEST_F(Draw, CompletesAnImage) {
  const TextToImage drawer = TextToImage::Load(model);
  const std::string half = files.File("half.png");
  WritePng(half, Pattern(8, 8));
  EXPECT_EQ(Drawn({texts[0], "--image", half}), drawer.Complete({texts.data(), 1}, Pattern(8, 8))[0][0].image);
  EXPECT_EQ(Drawn({texts[0], "--image", half, "--keep-rows", "3"}),
            drawer.Complete({texts.data(), 1}, Pattern(8, 8), 3)[0][0].image);
  const std::vector<std::string> draw = {"draw", model, texts[0], "--image", half, "--out"};
  const auto refusal = [&](const std::string& to, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = draw;
    arguments.push_back(to);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RefusalOf(arguments);
  };
  EXPECT_THAT(refusal(half), HasSubstr("this command reads the same"));
  EXPECT_THAT(refusal(out, {"--keep-rows", "4"}), HasSubstr("--keep-rows 4: an image has"));
  EXPECT_THAT(refusal(files.File("new.jpg")), HasSubstr("must end in .png"));
  WriteFile(half, "no image");
  EXPECT_THAT(refusal(out), HasSubstr("half.png: not an image"));
}

TEST_F(Draw, RefusesWhatItCannotDraw) {
  const std::string idx = files.File("halves-idx3-ubyte");  // two gray images of 2 x 2 pixels
  WriteFile(idx, std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02", 16) + "abcdefgh");
  EXPECT_THAT(RefusalOf({"draw", model, "dog"}), HasSubstr("--out is required"));
  EXPECT_THAT(RefusalOf({"draw", model, "--out", out}), HasSubstr("TEXT or --file FILE"));
  EXPECT_THAT(RefusalOf({"draw", model, "dog", "--keep-rows", "1", "--out", out}),
              HasSubstr("--keep-rows needs --image"));
  EXPECT_THAT(RefusalOf({"draw", model, "dog", "--columns", "2", "--json"}), HasSubstr("--columns needs --out"));
  EXPECT_THAT(RefusalOf({"draw", model, "dog", "--n-best", "3", "--columns", "4", "--out", out}),
              HasSubstr("--columns 4: there are 3"));
  EXPECT_THAT(RefusalOf({"draw", model, "dog", "--image", idx, "--out", out}), HasSubstr("it has 2 images, and"));
  EXPECT_THAT(RefusalOf({"draw", model + "/vae", "dog", "--out", out}), HasSubstr("a text-to-image model is needed"));
  EXPECT_THAT(RefusalOf({"generate", model, "dog"}), HasSubstr("a language model is needed"));
  DamageWeights(model);
  EXPECT_THAT(RefusalOf({"draw", model, "dog", "--out", out}),
              HasSubstr(folder.File("model.safetensors") + ": decoding step 1"));
}

TEST_F(Draw, FoldersAreDescribedConvertedAndRun) {
  const JsonView described(ParseJson(RunProgram({"info", model, "--json"}).out, "info"), "info");
  EXPECT_EQ(described["family"].String(), "dalle");
  EXPECT_EQ(described["codes_per_side"].Integer(), 4);
  EXPECT_GT(described["vocabulary"].Integer(), 0);
  const JsonView coder(ParseJson(RunProgram({"info", model + "/vae", "--json"}).out, "info"), "info");
  EXPECT_EQ(coder["family"].String(), "discrete_vae");
  EXPECT_EQ(coder["image_size"].Integer(), 8);

  const std::string int8 = files.File("int8");
  for (int i = 0; i < 2; ++i)
    // The second conversion replaces the first.
    MustRun({"convert", model, "--out", int8, "--overwrite", "--compute", "int8"});
  EXPECT_EQ(TextToImage::Load(int8).Generate(texts[0])[0].codes,
            TextToImage::Load(model, {.compute = Compute::int8}).Generate(texts[0])[0].codes);
  WriteFile(int8 + "/vae/notes", "mine");
  EXPECT_THAT(RefusalOf({"convert", model, "--out", int8, "--overwrite", "--compute", "int8"}),
              HasSubstr("holds 'vae', which is not"));

  const std::string in = files.File("in.safetensors"), run = files.File("out.safetensors");
  const std::vector<std::int32_t> ids = {3, 4, 0}, codes = {5, 0};
  WriteSafetensors(in, {Stored("input_ids", Tensor::From<std::int32_t>(ids, {1, 3})),
                        Stored("codes", Tensor::From<std::int32_t>(codes, {1, 2}))});
  MustRun({"forward", model, in, "--out", run});
  const Safetensors outputs(run);
  EXPECT_EQ(outputs.At("logits").shape, (Shape{1, 3, 6}));
  EXPECT_EQ(outputs.At("last_hidden_state").shape, (Shape{1, 15, 16}));
  EXPECT_EQ(outputs.At("attentions.3").shape, (Shape{1, 2, 15, 15}));
  EXPECT_EQ(outputs.At("text_logits").shape, (Shape{1, 12, described["vocabulary"].Integer() + 12}));

  const Tensor pixels = Tensor::Zeros({1, 3, 8, 12});
  WriteSafetensors(in, {Stored("pixel_values", pixels)});
  MustRun({"forward", model + "/vae", in, "--out", run});
  EXPECT_EQ(Safetensors(run).At("logits").shape, (Shape{1, 6, 4, 6}));
  const Tensor found = Safetensors(run).Read("codes", DType::int32);
  WriteSafetensors(in, {Stored("codes", found)});
  MustRun({"forward", model + "/vae", in, "--out", run});
  EXPECT_EQ(Safetensors(run).At("pixel_values").shape, (Shape{1, 3, 8, 12}));
  WriteSafetensors(in, {Stored("pixel_values", pixels), Stored("codes", found)});
  EXPECT_THAT(RefusalOf({"forward", model + "/vae", in, "--out", run}), HasSubstr("has both pixel_values and codes"));
  WriteSafetensors(in, {Stored("pixel_values", Tensor::Zeros({1, 3, 7, 8}))});
  EXPECT_THAT(RefusalOf({"forward", model + "/vae", in, "--out", run}), HasSubstr("its sides must be multiples"));
}

// Tests DALL-E mini, which has a text encoder, and a VQGAN that can only decode.
TEST_F(Draw, RunsADalleMini) {
  const std::string mini = HEADLIGHT_SOURCE_DIR "/tests/testdata/dalle/dalle_mini", image = files.File("a.png");
  const std::vector<std::string> words = {"a dog runs", "children play"};
  const TextToImage drawer = TextToImage::Load(mini);
  MustRun({"draw", mini, words[0], words[1], "--guidance", "3", "--top-k", "5", "--out", out});
  EXPECT_EQ(ReadImage(out), Sheet(drawer.Generate(words, {.top_k = 5, .guidance = 3}), 1));
  const JsonView coder(ParseJson(RunProgram({"info", mini + "/vae", "--json"}).out, "info"), "info");
  EXPECT_EQ(coder["family"].String(), "vqgan");
  WritePng(image, Pattern(64, 64));
  const char* const only_decodes = "vae/model.safetensors: this model has no encoder";
  EXPECT_THAT(RefusalOf({"draw", mini, words[0], "--image", image, "--out", out}), HasSubstr(only_decodes));
  const std::string list = files.File("pairs.tsv");
  WriteFile(list, "a.png\ta dog\n");
  EXPECT_THAT(RefusalOf({"evaluate", mini, list}), HasSubstr(only_decodes));
  const Outcome trained = RunProgram(
      {"train", "text-to-image", "--from", mini, "--train", list, "--valid", list, "--out", files.File("trained")});
  EXPECT_EQ(trained.exit_code, 2);
  EXPECT_THAT(trained.err, HasSubstr(only_decodes));

  const std::string in = files.File("in.safetensors"), run = files.File("out.safetensors");
  WriteSafetensors(in, {Stored("input_ids", Tensor::From<std::int32_t>(std::vector{5, 6, 7, 8, 1, 1}, {2, 3})),
                        Stored("codes", Tensor::From<std::int32_t>(std::vector{5, 0, 7, 2}, {2, 2}))});
  MustRun({"forward", mini, in, "--out", run});
  const Safetensors outputs(run);
  EXPECT_EQ(outputs.At("logits").shape, (Shape{2, 3, 13}));
  EXPECT_EQ(outputs.At("encoder_attentions.1").shape, (Shape{2, 2, 9, 9}));
  EXPECT_EQ(outputs.At("decoder_attentions.2").shape, (Shape{2, 2, 3, 3}));
  EXPECT_EQ(outputs.At("cross_attentions.2").shape, (Shape{2, 2, 3, 9}));
  EXPECT_FALSE(outputs.contains("text_logits"));
  const std::vector<float> cross = outputs.Read("cross_attentions.0").ToVector<float>();
  EXPECT_GT(cross[4], 0);              // the last token of the longer text
  EXPECT_EQ(cross[5], 0);              // padding of the longer text
  EXPECT_EQ(cross[2 * 3 * 9 + 3], 0);  // the padding of the shorter text
  EXPECT_GT(cross[2 * 3 * 9 + 2], 0);

  const auto look = [&](const std::string& kind, const std::string& name) {
    const Outcome outcome =
        RunProgram({"look", mini, "--text", words[0], "--attention", kind, "--out", files.File(name)});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(look("cross", "cross.svg"), HasSubstr("3 attentions of 7 source and 16 target tokens"));
  EXPECT_THAT(look("encoder", "encoder.svg"), HasSubstr("2 attentions"));  // attention over the text
  EXPECT_THAT(look("decoder", "decoder.svg"), HasSubstr("3 attentions"));
  EXPECT_THAT(look("rollout", "rollout.html"), HasSubstr("2 attentions"));
  MustRun({"look", mini, "--text", words[0], "--out", files.File("all.html")});
  const std::string page = ReadFile(files.File("all.html"));
  EXPECT_LT(page.find(R"("kind":"cross")"), page.find(R"("kind":"decoder")"));  // the cross-attention is shown first
  EXPECT_NE(page.find(R"("kind":"decoder")"), page.npos);
}

TEST_F(Draw, IsEvaluated) {
  const std::string photos = files.File("photos"), list = files.File("pairs.tsv");
  std::filesystem::create_directory(photos);
  WritePng(photos + "/a.png", Pattern(8, 8));
  WritePng(photos + "/b.png", Pattern(20, 9));
  WriteFile(list, "photos/a.png\tA dog runs\nphotos/b.png\tTwo children\n");
  const auto evaluated = [&](const std::string& folder_of, const std::string& on) {
    const Outcome outcome = RunProgram({"evaluate", folder_of, on, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return JsonView(ParseJson(outcome.out, "evaluate"), "evaluate");
  };
  // The expected loss is the mean negative log-probability of an image's codes given its text, computed with the raw
  // model.
  const TextToImage drawer = TextToImage::Load(model);
  const JsonView of_pairs = evaluated(model, list);
  EXPECT_EQ(of_pairs["images"].Integer(), 2);
  EXPECT_NEAR(of_pairs["bits_per_code"].Number(), of_pairs["image_loss"].Number() / std::log(2.0), 1e-6);
  EXPECT_NEAR(of_pairs["loss"].Number(), of_pairs["text_loss"].Number() / 8 + of_pairs["image_loss"].Number() * 7 / 8,
              1e-5);
  double expected = 0;
  for (const auto& [image, ids] : {std::pair(Pattern(8, 8), texts[0]), std::pair(Pattern(20, 9), texts[1])}) {
    const std::vector<std::int32_t> codes = drawer.Encode(image);
    TextToImageBatch batch;
    AppendTextAndCodes(drawer.model(), DrawingIds(drawer.tokenizer(), ids, 12, "text"), codes, batch);
    Context context;
    const Tensor hidden = drawer.model().Decode(context, batch.ids, {{0, static_cast<std::int32_t>(batch.ids.size())}});
    const Tensor logits = ops::Linear(hidden.ViewRows(hidden.rows() - 16, 16), drawer.model().OutputWeight(context),
                                      drawer.model().OutputBias(context));
    for (std::int64_t cell = 0; cell < 16; ++cell) {
      const float* const row = logits.matrix<float>().row(cell);
      double sum = 0;
      for (int code = 0; code < 6; ++code) sum += std::exp(double{row[code]});
      expected += (std::log(sum) - double{row[codes[static_cast<std::size_t>(cell)]]}) / 32;
    }
  }
  EXPECT_NEAR(of_pairs["image_loss"].Number(), expected, 1e-4);

  // The expected score is the reconstruction error of the VAE.
  const JsonView of_coder = evaluated(model + "/vae", photos);
  std::set<std::int32_t> used;
  for (const Image& image : {Pattern(8, 8), Pattern(20, 9)})
    for (const std::int32_t code : drawer.Encode(image)) used.insert(code);
  EXPECT_EQ(of_coder["codes_used"].Number(), static_cast<double>(used.size()));
  EXPECT_EQ(of_coder["codes"].Integer(), 6);
  double psnr = 0;
  for (const Image& image : {Pattern(8, 8), Pattern(20, 9)}) {
    const Image fitted = CenterSquare(8).Fit(image), decoded = drawer.Decode(drawer.Encode(image));
    double squares = 0;
    for (std::size_t i = 0; i < fitted.pixels.size(); ++i)
      squares += std::pow((int{fitted.pixels[i]} - int{decoded.pixels[i]}) / 255.0, 2) / 192;
    psnr -= 10 * std::log10(squares) / 2;
  }
  EXPECT_NEAR(of_coder["psnr"].Number(), psnr, 0.05);  // the images in this test are rounded to steps of 1/255

  EXPECT_THAT(RunProgram({"evaluate", model, list}).out, HasSubstr(" bits per code, loss "));
  EXPECT_THAT(RunProgram({"evaluate", model + "/vae", photos}).out, HasSubstr(" of 2 images\n"));
  EXPECT_THAT(RefusalOf({"evaluate", model}), HasSubstr("the images to evaluate on"));
  EXPECT_THAT(RefusalOf({"evaluate", model, list, "--train", list}), HasSubstr("--train is not for this"));
  EXPECT_THAT(RefusalOf({"evaluate", model + "/vae", photos, "--images", photos}), HasSubstr("--images is not for"));
  WriteFile(list, "photos/a.png\t \n");
  EXPECT_THAT(RefusalOf({"evaluate", model, list}), HasSubstr("pairs.tsv"));
  DamageWeights(model + "/vae");
  EXPECT_THAT(RefusalOf({"evaluate", model + "/vae", photos}), HasSubstr("encoding an image"));
}

TEST_F(Draw, IsLookedInto) {
  const std::string page = files.File("page.html"), image = files.File("page.svg");
  MustRun({"look", model, "--text", texts[0], "--out", page, "--out", image});
  EXPECT_THAT(ReadFile(page), HasSubstr("padding"));
  MustRun({"look", model, "--text", texts[0], "--layer", "3", "--out", page});
  EXPECT_THAT(RefusalOf({"look", model, "--text", texts[0], "--layer", "5", "--out", page}), HasSubstr("layer 5"));
  EXPECT_THAT(RefusalOf({"look", model, "--source", "a", "--out", page}), HasSubstr("give it with --text"));
}

}  // namespace
}  // namespace headlight::draw_test
