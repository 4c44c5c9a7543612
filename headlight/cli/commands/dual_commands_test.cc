// Tests commands with a dual encoder: info, embed, classify, look, forward, convert and search.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/io/safetensors.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/image_classifier.h"
#include "headlight/pipelines/image_text_embedder.h"

namespace headlight::dual_commands_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kImages = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/";
const std::string kClip = HEADLIGHT_SOURCE_DIR "/tests/testdata/clip/clip";

struct DualCommands : testing::Test {
  DualCommands() : model(folder.File("model")), photos(folder.File("photos")) {
    std::filesystem::create_directories(model);
    SaveTinyClip(model);
    std::filesystem::create_directories(photos);
    std::filesystem::copy(kImages + "rgb.png", photos + "/a.png");
    std::filesystem::copy(kImages + "full_chroma.jpg", photos + "/b.jpg");
    WriteFile(texts, "A dog runs.\ntwo cats\n\n");
  }

  const TemporaryFolder folder;
  const std::string model, photos;
  const std::string texts = folder.File("texts.txt"), index = folder.File("index"), page = folder.File("a.html");
};

TEST_F(DualCommands, InfoDescribesBothTowers) {
  const JsonView info(ParseJson(RunProgram({"info", model, "--json"}).out, "info"), "info");
  EXPECT_EQ(info["family"].String(), "clip");
  EXPECT_EQ(info["vector"].Integer(), 10);
  EXPECT_EQ(info["image_height"].Integer(), 8);
  EXPECT_EQ(info["positions"].Integer(), 20);
  EXPECT_EQ(info["scores"].String(), "softmax");
  EXPECT_EQ(info["text_layers"].Integer(), 1);
  EXPECT_EQ(info["image_layers"].Integer(), 2);
  EXPECT_EQ(info["image_ffn"].Integer(), 24);
  EXPECT_GT(info["vocabulary"].Integer(), 500);
}

TEST_F(DualCommands, ZeroShotClassesAreEvaluatedAsClassifyFindsThem) {
  const std::string set = folder.File("set");
  std::vector<std::string> rights;
  for (const auto& [label, image] : {std::pair("cat", "rgb.png"), std::pair("dog", "full_chroma.jpg")}) {
    std::filesystem::create_directories(set + "/" + label);
    std::filesystem::copy(kImages + image, set + "/" + label + "/" + image);
  }
  for (const std::string text : {"{}", "two {}s run."}) {
    const std::vector<std::string> named =
        Lines(RunProgram({"classify", model, set, "--labels", "cat", "dog", "--template", text}).out);
    ASSERT_EQ(named.size(), 2U);
    int right = 0;
    for (const std::string& line : named) {
      const bool cat = line.find("/cat/") != std::string::npos, found = line.find("\tcat\t") != std::string::npos;
      right += cat == found ? 1 : 0;
    }
    const std::string matrix = folder.File("matrix.png");
    const Outcome outcome =
        RunProgram({"evaluate", model, set, "--zero-shot", "--template", text, "--confusion", matrix, "--json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const JsonView scores(ParseJson(outcome.out, "scores"), "scores");
    EXPECT_EQ(scores["accuracy"].Number(), 50 * right);
    EXPECT_EQ(scores["images"].Integer(), 2);
    EXPECT_EQ(scores["classes"].Items().size(), 2U);
    EXPECT_TRUE(std::filesystem::exists(matrix));
  }
  EXPECT_THAT(RunProgram({"evaluate", model, set, "--zero-shot"}).out, HasSubstr("confusion matrix"));
  EXPECT_THAT(RefusalOf({"evaluate", model, set, "--template", "a {}"}), HasSubstr("--template needs --zero-shot"));
  EXPECT_THAT(RefusalOf({"evaluate", model, set, "--zero-shot", "--template", "a"}), HasSubstr("{}"));
  EXPECT_THAT(RefusalOf({"evaluate", model, set, "--zero-shot", "--images", photos}),
              HasSubstr("--images is not for this"));
  WriteFile(set + "/cat/broken.png", "none");
  EXPECT_THAT(RefusalOf({"evaluate", model, set, "--zero-shot"}), HasSubstr("broken.png"));
}

TEST_F(DualCommands, EmbedImagesAndTextsIntoOneSpace) {
  const ImageTextEmbedder embedder = ImageTextEmbedder::Load(model);
  const std::vector<std::string> images = Lines(RunProgram({"embed", model, photos}).out),
                                 lines = Lines(RunProgram({"embed", model, texts}).out);
  ASSERT_EQ(images.size(), 2U);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(images[0], StartsWith(photos + "/a.png\t["));
  const float first = embedder.EmbedTexts({"A dog runs."}).vectors.ToVector<float>()[0];
  EXPECT_THAT(lines[0], StartsWith(fmt::format("[{},", first)));
  EXPECT_EQ(std::ranges::count(lines[0], ','), 9);
  // A query may be a text or an image.
  const std::vector<std::string> found = Lines(RunProgram({"embed", model, photos, "--search", "A dog runs."}).out);
  ASSERT_EQ(found.size(), 2U);
  const std::vector<std::string> own =
      Lines(RunProgram({"embed", model, photos, "--search", photos + "/b.jpg", "--top-k", "1"}).out);
  EXPECT_EQ(own, std::vector<std::string>{"1.0000\t" + photos + "/b.jpg"});
  EXPECT_EQ(Lines(RunProgram({"embed", model, texts, "--search", photos + "/a.png"}).out).size(), 3U);
  EXPECT_EQ(Lines(RunProgram({"embed", model}, "a dog\n").out).size(), 1U);
  EXPECT_THAT(RefusalOf({"embed", model, photos, "--truncate"}), HasSubstr("--truncate is for texts"));
  EXPECT_THAT(RefusalOf({"embed", model, texts, photos + "/a.png"}), HasSubstr("one"));
}

TEST_F(DualCommands, ClassifyByLabels) {
  const ImageClassifier classifier = ImageClassifier::LoadZeroShot(model, {"a dog", "a cat"}, {"{}"});
  const LabelScore best = classifier.Classify(ReadImage(photos + "/a.png")).front();
  EXPECT_EQ(RunProgram({"classify", model, photos + "/a.png", "--labels", "a dog", "a cat"}).out,
            fmt::format("{}/a.png\t{}\t{:.4f}\n", photos, best.label, best.score));
  const std::string templated = RunProgram({"classify", model, photos, "--json", "--labels", "dog", "cat", "bird",
                                            "--template", "a photo of a {}", "--template", "one {}."})
                                    .out;
  const JsonView first(ParseJson(Lines(templated)[0], "row"), "row");
  double sum = 0;
  for (const JsonView& label : first["classes"].Items()) sum += label["score"].Number();
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_THAT(RefusalOf({"classify", model, photos}), HasSubstr("name them with --labels"));
  EXPECT_THAT(RefusalOf({"classify", model, photos, "--labels", "a", "a"}), HasSubstr("given twice"));
  EXPECT_THAT(RefusalOf({"classify", model, photos, "--labels", "a", "--template", "b"}), HasSubstr("has no {}"));
  EXPECT_THAT(RefusalOf({"classify", model, photos, "--template", "{}"}), HasSubstr("--template needs --labels"));
  EXPECT_THAT(RefusalOf({"classify", HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/classify", texts, "--labels", "a"}),
              HasSubstr("has its own classes"));
}

TEST_F(DualCommands, EvaluateCountsTextsThatAreCut) {
  std::string text;
  for (int word = 0; word < 30; ++word) text += "dog ";
  const std::string pairs = folder.File("pairs.tsv");
  WriteFile(pairs, photos + "/a.png\t" + text + "\n" + photos + "/b.jpg\ttwo cats\n");
  EXPECT_THAT(RefusalOf({"evaluate", model, pairs}), HasSubstr("pairs.tsv: 1 text is longer"));
  EXPECT_THAT(RunProgram({"evaluate", model, pairs, "--truncate"}).out,
              HasSubstr("1 of 2 texts are longer than the 20 tokens that the model reads: their ends are left out\n"));
  EXPECT_THAT(RunProgram({"evaluate", model, pairs, "--json", "--truncate"}).out, HasSubstr("\"cut_texts\":1"));
}

TEST_F(DualCommands, SearchAnIndexByTextOrImage) {
  EXPECT_EQ(RunProgram({"embed", model, photos + "/a.png", "--index", index}).out, "");
  const Outcome more = RunProgram({"embed", model, photos, "--index", index});
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_THAT(more.err, HasSubstr("index: 2 items"));
  EXPECT_THAT(RunProgram({"embed", model, texts, "--index", index}).err, HasSubstr("index: 5 items"));
  EXPECT_THAT(RunProgram({"embed", model, texts, "--index", index}).err, HasSubstr("index: 5 items"));

  const std::vector<std::string> own = Lines(RunProgram({"search", index, photos + "/b.jpg", "--top-k", "1"}).out);
  EXPECT_EQ(own, std::vector<std::string>{"1.0000\t" + photos + "/b.jpg"});
  for (const std::vector<std::string>& search :
       {std::vector<std::string>{"search", index, "none.jpg"}, {"embed", model, photos, "--search", "none.jpg"}})
    EXPECT_THAT(RefusalOf(search), HasSubstr("none.jpg: no such image"));
  EXPECT_EQ(RunProgram({"search", index, "a dog in none.jpg"}).exit_code, 0);
  const std::vector<std::string> text = Lines(RunProgram({"search", index, "two cats", "--json"}).out);
  ASSERT_EQ(text.size(), 5U);
  const JsonView first(ParseJson(text[0], "row"), "row");
  EXPECT_EQ(first["text"].String(), "two cats");
  EXPECT_NEAR(first["score"].Number(), 1, 1e-5);

  // A changed image is embedded again.
  std::filesystem::copy(kImages + "rgb.jpg", photos + "/b.jpg", std::filesystem::copy_options::overwrite_existing);
  EXPECT_LT(std::stod(RunProgram({"search", index, photos + "/b.jpg", "--top-k", "1"}).out), 0.99999);
  MustRun({"embed", model, photos, "--index", index});
  EXPECT_THAT(RunProgram({"search", index, photos + "/b.jpg", "--top-k", "1"}).out, StartsWith("1.0000\t"));

  // A page is written even if an image no longer exists.
  std::filesystem::remove(photos + "/a.png");
  const Outcome paged = RunProgram({"search", index, "two <cats>", "--out", page});
  EXPECT_EQ(paged.exit_code, 0) << paged.err;
  EXPECT_THAT(ReadFile(page),
              AllOf(HasSubstr("two &lt;cats&gt;"), HasSubstr("data:image/png;base64,"), HasSubstr("a.png")));
  EXPECT_THAT(paged.err, HasSubstr("a.png"));

  // Updating the index from the folder removes the missing image. Updates from a file or from another folder keep it.
  EXPECT_THAT(RunProgram({"embed", model, photos + "/b.jpg", "--index", index}).err, HasSubstr("index: 5 items"));
  const Outcome updated = RunProgram({"embed", model, photos, "--index", index});
  EXPECT_THAT(updated.err, HasSubstr("index: 1 item removed: the"));
  EXPECT_THAT(updated.err, HasSubstr("index: 4 items"));
  EXPECT_THAT(RunProgram({"search", index, "two cats"}).out, testing::Not(HasSubstr("a.png")));

  // A folder may be empty or missing if the index contains images of this folder.
  std::filesystem::remove(photos + "/b.jpg");
  const Outcome emptied = RunProgram({"embed", model, photos, "--index", index});
  EXPECT_EQ(emptied.exit_code, 0) << emptied.err;
  EXPECT_THAT(emptied.err, HasSubstr("index: 1 item removed"));
  EXPECT_THAT(RefusalOf({"embed", model, photos, "--index", index}), HasSubstr("there is no image in this folder"));
  const std::string others = folder.File("others");
  std::filesystem::create_directories(others);
  std::filesystem::copy(kImages + "rgb.jpg", others + "/c.jpg");
  MustRun({"embed", model, others, "--index", index});
  std::filesystem::remove_all(others);
  EXPECT_THAT(RunProgram({"embed", model, others, "--index", index}).err, HasSubstr("index: 1 item removed"));
  EXPECT_THAT(RefusalOf({"embed", model, others, "--index", index}), HasSubstr("others"));
}

TEST_F(DualCommands, SearchAnIndexOfFaiss) {
  const std::string faiss = folder.File("all.faiss"), names = folder.File("names");
  MustRun({"embed", model, photos, "--index", index});
  const Outcome written = RunProgram({"embed", model, texts, "--index", index, "--faiss", faiss});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(Lines(written.out).size(), 5U);
  WriteFile(names, written.out);
  const std::vector<std::string> search = {"search", faiss, "two cats", "--model", model};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), search.begin(), search.end());
    return more;
  };
  // Searches give the results of the original index, with names and with numbers instead of names.
  const std::string own = RunProgram({"search", index, "two cats"}).out;
  EXPECT_EQ(RunProgram(with({"--names", names})).out, own);
  const std::vector<std::string> rows = Lines(written.out), numbers = Lines(RunProgram(search).out);
  ASSERT_EQ(numbers.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    const std::size_t tab = numbers[i].find('\t');
    EXPECT_EQ(numbers[i].substr(0, tab + 1) + rows[std::stoul(numbers[i].substr(tab + 1))], Lines(own)[i]);
  }
  EXPECT_THAT(RunProgram(with({"--json", "--top-k", "1"})).out, StartsWith("{\"id\":"));
  EXPECT_THAT(RunProgram(with({"--json", "--names", names})).out,
              AllOf(HasSubstr("{\"text\":\"two cats\""), HasSubstr("{\"image\":\"")));
  MustRun(with({"--names", names, "--out", page}));
  EXPECT_THAT(ReadFile(page), HasSubstr("data:image/png;base64,"));

  EXPECT_THAT(RefusalOf({"search", faiss, "two cats"}), HasSubstr("--model DIR is required"));
  EXPECT_THAT(RefusalOf(with({"--probes", "2"})), HasSubstr("--probes 2: "));
  EXPECT_THAT(RefusalOf(with({"--out", faiss})), HasSubstr("reads the same file"));
  EXPECT_THAT(RefusalOf({"search", index, "a", "--names", names}), HasSubstr("for an index of FAISS"));
  EXPECT_THAT(RefusalOf({"search", index, "a", "--ef-search", "3"}), HasSubstr("for an index of FAISS"));
  EXPECT_THAT(RefusalOf({"search", faiss, "a", "--model", model, "--ef-search", "3"}),
              HasSubstr("--ef-search is for an IndexHNSWFlat"));
  WriteFile(names, "one\n");
  EXPECT_THAT(RefusalOf(with({"--names", names})), HasSubstr("has no line among 1"));
  EXPECT_THAT(
      RefusalOf({"search", HEADLIGHT_SOURCE_DIR "/headlight/search/testdata/faiss/flat.faiss", "a", "--model", model}),
      HasSubstr("its vectors have 10 numbers"));
  EXPECT_THAT(RefusalOf({"search", texts, "a", "--model", model}), HasSubstr("an index of kind"));
  EXPECT_THAT(RefusalOf({"search", folder.File("none"), "a"}), HasSubstr("no such folder or file"));
  EXPECT_THAT(RefusalOf({"embed", model, texts, "--index", index, "--faiss", index + "/index.json"}),
              HasSubstr("reads the same file"));
}

TEST_F(DualCommands, SearchRefusesOtherModelsAndOtherFolders) {
  MustRun({"embed", model, texts, "--index", index});
  EXPECT_THAT(RefusalOf({"search", photos, "a"}), HasSubstr("is not a vector index"));
  EXPECT_THAT(RefusalOf({"search", index, "a", "--out", folder.File("a.png")}), HasSubstr("must end in .html"));
  EXPECT_THAT(RefusalOf({"search", index, "a", "--top-k", "0"}), HasSubstr("--top-k must be at least"));
  EXPECT_THAT(RefusalOf({"embed", model, texts, "--index", photos}), HasSubstr("is not empty"));
  EXPECT_THAT(RefusalOf({"embed", model, texts, "--index", index, "--search", "a"}), HasSubstr("--index"));
  EXPECT_THAT(RefusalOf({"embed", model, photos, "-", "--index", index}), HasSubstr("--index"));
  // --model can name a copy of the model. A different model is an error.
  std::filesystem::rename(model, folder.File("moved"));
  EXPECT_THAT(RefusalOf({"search", index, "a"}), HasSubstr(model));
  EXPECT_EQ(RunProgram({"search", index, "two cats", "--model", folder.File("moved"), "--top-k", "1"}).out,
            "1.0000\ttwo cats\n");
  std::filesystem::create_directories(model);
  SaveTinyClip(model, 20, /*seed=*/4);
  EXPECT_THAT(RefusalOf({"search", index, "a"}), HasSubstr("made by another model"));
  EXPECT_THAT(RefusalOf({"embed", model, texts, "--index", index}), HasSubstr("another model"));
}

TEST_F(DualCommands, LookShowsATower) {
  const Outcome image = RunProgram({"look", model, "--image", photos + "/a.png", "--out", page});
  EXPECT_EQ(image.exit_code, 0) << image.err;
  EXPECT_THAT(image.err, HasSubstr("2 attentions of 5 tokens"));
  const Outcome text = RunProgram({"look", model, "--text", "two dogs", "--out", page, "--out", folder.File("a.svg")});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.err, HasSubstr("1 attention of "));
  EXPECT_THAT(ReadFile(page), HasSubstr("|endoftext|>"));
  EXPECT_THAT(RefusalOf({"look", model, "--out", page}), HasSubstr("a text with --text"));
}

TEST_F(DualCommands, ConvertMakesASmallerModelThatComputesTheSame) {
  for (const std::string compute : {"int8", "int4"}) {
    const std::string small = folder.File(compute);
    MustRun({"convert", model, "--out", small, "--compute", compute});
    EXPECT_EQ(RunProgram({"embed", small, texts}).out, RunProgram({"embed", model, texts, "--compute", compute}).out);
    EXPECT_EQ(Lines(RunProgram({"embed", small, photos}).out).size(), 2U);
  }
}

// Checks that the outputs equal Transformers' outputs (tools/make_clip_goldens.py).
TEST_F(DualCommands, ForwardGivesTransformersOutputs) {
  const Safetensors golden(kClip + "/golden.safetensors");
  const Tensor pixels = golden.Read("pixel_values"), ids = golden.Read("input_ids", DType::int32),
               mask = golden.Read("attention_mask", DType::int32);
  const Shape& shape = pixels.shape();
  const Tensor planes = Tensor::Empty({shape[0], shape[3], shape[1], shape[2]});
  const std::int64_t area = shape[1] * shape[2];
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t pixel = 0; pixel < area; ++pixel)
      for (std::int64_t channel = 0; channel < shape[3]; ++channel)
        planes.data<float>()[(b * shape[3] + channel) * area + pixel] =
            pixels.data<float>()[(b * area + pixel) * shape[3] + channel];
  const std::string in = folder.File("in.safetensors"), out = folder.File("out.safetensors");
  WriteSafetensors(in, {Stored("pixel_values", planes), Stored("input_ids", ids), Stored("attention_mask", mask)});
  MustRun({"forward", kClip, in, "--out", out});
  const Safetensors outputs(out);
  const auto expect_near = [&](const std::string& name, const std::vector<float>& expected) {
    const std::vector<float> actual = outputs.Read(name).ToVector<float>();
    ASSERT_EQ(actual.size(), expected.size()) << name;
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-4) << name;
  };
  expect_near("logits_per_text", golden.Read("logits").ToVector<float>());
  const auto unit_rows = [&](const char* name) {
    const Tensor vectors = golden.Read(name);
    std::vector<float> unit;
    for (std::int64_t row = 0; row < vectors.rows(); ++row) {
      const float* const numbers = vectors.matrix<float>().row(row);
      double squares = 0;
      for (std::int64_t i = 0; i < vectors.columns(); ++i) squares += double{numbers[i]} * double{numbers[i]};
      for (std::int64_t i = 0; i < vectors.columns(); ++i)
        unit.push_back(static_cast<float>(numbers[i] / std::sqrt(squares)));
    }
    return unit;
  };
  expect_near("image_embeds", unit_rows("image_vectors"));
  expect_near("text_embeds", unit_rows("text_vectors"));
  expect_near("vision_pooler_output", golden.Read("image_pooled").ToVector<float>());
  expect_near("text_pooler_output", golden.Read("text_pooled").ToVector<float>());
  expect_near("vision_last_hidden_state", golden.Read("image_states").ToVector<float>());
  expect_near("vision_attentions.1", golden.Read("image_attentions.1").ToVector<float>());
  EXPECT_EQ(outputs.At("text_attentions.0").shape, (Shape{3, 2, 9, 9}));
  EXPECT_EQ(outputs.At("logits_per_image").shape, (Shape{3, 3}));

  EXPECT_THAT(RefusalOf({"forward", kClip + "_text", in, "--out", out}), HasSubstr("has no tower for images"));
  EXPECT_THAT(RefusalOf({"forward", kClip + "_vision", in, "--out", out}), HasSubstr("has no tower for texts"));
  WriteSafetensors(in, {Stored("attention_mask", mask)});
  EXPECT_THAT(RefusalOf({"forward", kClip, in, "--out", out}), HasSubstr("neither pixel_values nor input_ids"));
  WriteSafetensors(in, {Stored("input_ids", ids), Stored("attention_mask", mask)});
  MustRun({"forward", kClip, in, "--out", out});
  EXPECT_FALSE(Safetensors(out).contains("logits_per_text"));
  // If the model has one tower, the outputs have Transformers' names without a prefix.
  const std::vector<float> of_both = Safetensors(out).Read("text_last_hidden_state").ToVector<float>();
  MustRun({"forward", kClip + "_text", in, "--out", out});
  const Safetensors text(out);
  for (const char* name : {"last_hidden_state", "pooler_output", "attentions.0"}) EXPECT_TRUE(text.contains(name));
  EXPECT_EQ(text.Read("last_hidden_state").elements(), std::ssize(of_both));
  EXPECT_THAT(RefusalOf({"forward", HEADLIGHT_SOURCE_DIR "/tests/testdata/clip/siglip", in, "--out", out}),
              HasSubstr("reads padding as text"));
}

}  // namespace
}  // namespace headlight::dual_commands_test
