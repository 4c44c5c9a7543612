#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/bench/kernel_cases.h"
#include "headlight/cli/program/testing.h"
#include "headlight/kinds/dual_encoder.h"
#include "headlight/models/bert.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/image_testing.h"

namespace headlight::bench_test {
namespace {

using testing::HasSubstr;

struct BenchTest : ProgramTest {
  // Runs `headlight bench` and returns the JSON object that it prints.
  static JsonView Bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    const Outcome outcome = RunProgram(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out.find('\n') + 1, outcome.out.size());
    return JsonView(ParseJson(outcome.out, "bench"), "bench");
  }

  static void ExpectMeasured(const JsonView& json, const char* speed = "target_tokens_per_second") {
    EXPECT_GT(json[speed].Number(), 0);
    EXPECT_GT(json["latency_ms"]["p50"].Number(), 0);
    EXPECT_GE(json["latency_ms"]["p99"].Number(), json["latency_ms"]["p90"].Number());
    EXPECT_GT(json["peak_memory_bytes"].Integer(), 1 << 20);
    EXPECT_GT(json["gemm_share"].Number(), 0);
    EXPECT_GT(json["bandwidth_share"].Number(), 0);
    EXPECT_NE(json["machine"]["processor"].String(), "");
  }
};

TEST_F(BenchTest, TranslatesRandomSentencesOfAFixedLength) {
  for (const char* name : {"source.spm", "target.spm", "vocab.json", "tokenizer.json"})
    std::filesystem::remove(model + "/" + name);  // the benchmark needs no tokenizer
  for (const std::string compute : {"float32", "int8"}) {
    const JsonView json =
        Bench({"translate", model, "--batch-size", "3", "--beam-size", "2", "--source-length", "2:5", "--target-length",
               "7", "--repetitions", "2", "--compute", compute, "--output-tokens", folder.File("tokens")});
    ExpectMeasured(json);
    EXPECT_EQ(json["compute"].String(), compute);
    const std::string text = ReadFile(folder.File("tokens"));
    std::size_t lines = 0;
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1, ++lines) {
      const JsonView line(ParseJson(text.substr(begin, text.find('\n', begin) - begin), "tokens"), "tokens");
      EXPECT_THAT(line["source"].Items().size(), testing::AllOf(testing::Ge(3U), testing::Le(6U)));
      EXPECT_EQ(line["target"].Items().size(), 7U);
    }
    EXPECT_EQ(lines, 6U);
  }
  EXPECT_EQ(Bench({"translate", model, "--batch-size", "1", "--beam-size", "1", "--source-length", "2:5",
                   "--repetitions", "2", "--draft"})["draft"]
                .value(),
            Json(true));
}

TEST_F(BenchTest, ReadsRandomTexts) {
  Bert bert({.model = 16, .layers = 2, .heads = 2, .ffn = 32, .vocabulary = 50, .positions = 12});
  bert.parameters().Initialize(5);
  std::filesystem::create_directory(folder.File("bert"));
  bert.Save(folder.File("bert"));
  const JsonView json = Bench({"encode", folder.File("bert"), "--batch-size", "3", "--length", "2:5", "--repetitions",
                               "2", "--states", folder.File("states")});
  ExpectMeasured(json, "tokens_per_second");
  std::size_t texts = 0;
  for (const std::string& text : Lines(ReadFile(folder.File("states")))) {
    const JsonView line(ParseJson(text, "states"), "states");
    std::vector<std::int32_t> ids;
    for (const JsonView& id : line["ids"].Items()) ids.push_back(static_cast<std::int32_t>(id.Integer()));
    EXPECT_THAT(ids.size(), testing::AllOf(testing::Ge(2U), testing::Le(5U)));
    Context context;
    const Tensor alone = bert.Encode(context, ids, {}, {{0, static_cast<std::int32_t>(ids.size())}});
    float sum = 0;
    for (std::size_t row = 0; row < ids.size(); ++row)
      sum += alone.matrix<float>().row(static_cast<std::int64_t>(row))[7];
    EXPECT_NEAR(line["mean"].Items().at(7).Number(), sum / static_cast<float>(ids.size()), 1e-5);
    ++texts;
  }
  EXPECT_EQ(texts, 6U);
  EXPECT_THAT(RefusalOf({"bench", "encode", folder.File("bert"), "--length", "2:13"}), HasSubstr("from 1 to 12"));
  EXPECT_THAT(RefusalOf({"bench", "encode", folder.File("bert"), "--batch-size", "0"}), HasSubstr("--batch-size"));
  EXPECT_THAT(RefusalOf({"bench", "encode", folder.File("bert"), "--image-size", "8x8"}), HasSubstr("reads texts"));
}

TEST_F(BenchTest, FoldsRandomChains) {
  const std::string fold = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/model";
  const JsonView json = Bench(
      {"fold", fold, "--residues", "12", "--rows", "4", "--extra-rows", "3", "--recycles", "1", "--repetitions", "2"});
  ExpectMeasured(json, "residues_per_second");
  EXPECT_EQ(json["residues"].Integer(), 12);
  EXPECT_EQ(json["rows"].Integer(), 4);
  EXPECT_EQ(json["passes"].Integer(), 2);
  EXPECT_THAT(RefusalOf({"bench", "fold", model}), HasSubstr("structure prediction model"));
  EXPECT_THAT(RefusalOf({"bench", "fold", fold, "--residues", "0"}), HasSubstr("--residues"));
}

TEST_F(BenchTest, ReadsRandomImages) {
  std::filesystem::create_directory(folder.File("vit"));
  SaveTinyVit(folder.File("vit"));
  std::filesystem::remove(folder.File("vit/preprocessor_config.json"));
  const JsonView json = Bench({"encode", folder.File("vit"), "--batch-size", "3", "--repetitions", "2"});
  ExpectMeasured(json, "images_per_second");
  EXPECT_EQ(json["image"].String(), "8x8");
  for (const char* option : {"--length", "--states"})
    EXPECT_THAT(RefusalOf({"bench", "encode", folder.File("vit"), option, "5"}), HasSubstr("reads images"));
  const JsonView mixed =
      Bench({"encode", folder.File("vit"), "--batch-size", "3", "--repetitions", "1", "--image-size", "8x8", "12x4"});
  ExpectMeasured(mixed, "images_per_second");
  EXPECT_EQ(mixed["image"].String(), "8x8 12x4");
  const Outcome shown = RunProgram({"bench", "encode", folder.File("vit"), "--batch-size", "3", "--repetitions", "1"});
  EXPECT_THAT(shown.out,
              testing::AllOf(HasSubstr("1 step of"), HasSubstr("\nattention "), HasSubstr("\neverything else")));
  for (const char* size : {"8", "8x", "x8", "0x8", "8x4097", "8x8x8"})
    EXPECT_THAT(RefusalOf({"bench", "encode", folder.File("vit"), "--image-size", size}), HasSubstr(size));
}

TEST_F(BenchTest, ReadsRandomImagesAndTextsOfAClip) {
  const std::string clip = folder.File("clip"), states = folder.File("states.jsonl");
  std::filesystem::create_directory(clip);
  SaveTinyClip(clip);
  const JsonView images = Bench({"encode", clip, "--batch-size", "3", "--repetitions", "1"});
  EXPECT_EQ(images["image"].String(), "8x8");
  EXPECT_GT(images["images_per_second"].Number(), 0);
  const JsonView texts =
      Bench({"encode", clip, "--batch-size", "3", "--repetitions", "1", "--length", "2:9", "--states", states});
  EXPECT_GT(texts["tokens_per_second"].Number(), 0);
  const auto loaded = LoadModel<DualEncoder>(clip, {.purpose = LoadFor::computing});
  const std::vector<std::string> lines = Lines(ReadFile(states));
  ASSERT_EQ(lines.size(), 3U);
  for (const std::string& line : lines) {
    const JsonView one(ParseJson(line, "states"), "states");
    std::vector<std::int32_t> ids;
    for (const JsonView& id : one["ids"].Items()) ids.push_back(static_cast<std::int32_t>(id.Integer()));
    Context context;
    const std::vector<float> vector =
        loaded->TextVectors(context, ids, {{0, static_cast<std::int32_t>(ids.size())}}).ToVector<float>();
    for (std::size_t i = 0; i < vector.size(); ++i) EXPECT_NEAR(one["vector"].Items()[i].Number(), vector[i], 1e-5);
  }
  EXPECT_THAT(RefusalOf({"bench", "encode", clip, "--length", "2:99"}), HasSubstr("from 1 to 20"));
  EXPECT_THAT(RefusalOf({"bench", "encode", clip, "--length", "2:9", "--image-size", "8x8"}),
              HasSubstr("--image-size is for images"));
}

TEST_F(BenchTest, DetectsInRandomImages) {
  const JsonView json = Bench({"encode", HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/detr_learned", "--batch-size",
                               "2", "--repetitions", "1"});
  ExpectMeasured(json, "images_per_second");
  EXPECT_EQ(json["image"].String(), "1066x800");
}

TEST_F(BenchTest, PreparesImages) {
  const std::string image = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png";
  std::filesystem::create_directory(folder.File("vit"));
  SaveTinyVit(folder.File("vit"));
  const JsonView json = Bench({"images", folder.File("vit"), image, image, "--repetitions", "2"});
  EXPECT_GT(json["images_per_second"].Number(), 0);
  EXPECT_EQ(json["images"].Integer(), 2);
  EXPECT_THAT(RefusalOf({"bench", "images", folder.File("vit"), folder.File("none")}), HasSubstr("no such file"));
}

TEST_F(BenchTest, ContinuesRandomPrompts) {
  const TemporaryFolder gpt;
  SaveTinyGpt(gpt.path());
  const JsonView json = Bench({"generate", gpt.path(), "--batch-size", "2", "--prompt-length", "5", "--new-tokens", "3",
                               "--repetitions", "2", "--compute", "int4", "--output-tokens", folder.File("tokens")});
  ExpectMeasured(json);
  EXPECT_EQ(json["compute"].String(), "int4");
  for (const char* key :
       {"prompt_tokens_per_second", "prompt_gemm_share", "weight_bytes", "weights_read_share", "read_share"})
    EXPECT_GT(json[key].Number(), 0) << key;
  // 2 layers store keys and values of 16 floats for 2 texts. The texts have 6, 7 and 8 tokens in the three steps (mean
  // 7).
  EXPECT_EQ(json["cache_bytes"].Number(), 2 * 16 * 4 * 2 * 2 * 7);
  const std::string text = ReadFile(folder.File("tokens"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
  const JsonView line(ParseJson(text.substr(0, text.find('\n')), "tokens"), "tokens");
  EXPECT_EQ(line["prompt"].Items().size(), 5U);
  EXPECT_EQ(line["text"].Items().size(), 4U);  // the prefill generates the first token
  EXPECT_THAT(RefusalOf({"bench", "generate", gpt.path(), "--new-tokens", "40"}), HasSubstr("40 positions"));
  EXPECT_EQ(Bench({"generate", HEADLIGHT_SOURCE_DIR "/tests/testdata/gguf_blocks/llama.gguf", "--prompt-length", "5",
                   "--new-tokens", "3", "--repetitions", "1"})["compute"]
                .String(),
            "blocks");
}

TEST_F(BenchTest, CountsTheExpertsThatAStepReads) {
  const auto weight_bytes = [](const char* batch) {
    return Bench({"generate", HEADLIGHT_SOURCE_DIR "/tests/testdata/decoders/mixtral", "--batch-size", batch,
                  "--prompt-length", "2", "--new-tokens", "4", "--repetitions", "1"})["weight_bytes"]
        .Integer();
  };
  // One text uses 2 of 4 experts. 64 texts use all of them. Panels have 64 columns of floats. An expert's projections
  // for the gate and the values share a panel of depth 8, and its other projection has a panel of depth 5.
  EXPECT_EQ(weight_bytes("64") - weight_bytes("1"), 2 * (8 + 5) * 64 * 4);
}

TEST_F(BenchTest, TrainsOnText) {
  std::string source, target;
  for (int i = 0; i < 40; ++i) {
    source += std::string(kSentences[static_cast<std::size_t>(i % 3 * 2)]) + "\n";
    target += std::string(kSentences[static_cast<std::size_t>(i % 3 * 2 + 1)]) + "\n";
  }
  const JsonView json = Bench({"train", "--train", Write("train.de", source), Write("train.en", target), "--layers",
                               "1", "--model-dim", "16", "--heads", "2", "--ffn-dim", "32", "--vocabulary-size", "60",
                               "--batch-tokens", "50", "--steps", "3"});
  ExpectMeasured(json);
  EXPECT_EQ(json["repetitions"].Integer(), 3);
}

TEST_F(BenchTest, MeasuresKernels) {
  const JsonView json = Bench({"kernels", "--quick"});
  const std::vector<KernelCase> cases = KernelCases(/*quick=*/true);
  const std::vector<JsonView> rows = json["kernels"].Items();
  ASSERT_EQ(rows.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(rows[i]["kernel"].String(), cases[i].kernel);
    EXPECT_EQ(rows[i]["shape"].String(), cases[i].shape);
    EXPECT_GT(rows[i]["rate"].Number(), 0) << cases[i].kernel;
    if (cases[i].limit == KernelLimit::arithmetic)
      EXPECT_GT(rows[i]["limit"].Number(), 0) << cases[i].kernel;
    else
      EXPECT_FALSE(rows[i]["share"].present()) << cases[i].kernel;
    if (cases[i].limit == KernelLimit::bandwidth) cases[i].prepare().bare();
  }
  const Outcome table = RunProgram({"bench", "kernels", "--quick", "--target", "avx2"});
  EXPECT_EQ(std::ranges::count(table.out, '\n') - 2,
            std::ranges::count_if(cases, [](const KernelCase& one) { return one.compute != Compute::bfloat16; }));
  EXPECT_THAT(table.out, testing::AllOf(HasSubstr("\nGEMM float32 "), HasSubstr(" avx2 "), Not(HasSubstr("avx512"))));
  EXPECT_THAT(RefusalOf({"bench", "kernels", "--target", "sse9"}), HasSubstr("--target"));
}

TEST_F(BenchTest, RefusesImpossibleOptions) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--batch-size", "0"}, "--batch-size"},          {{"--source-length", "5:x"}, "5:x must be a length"},
      {{"--source-length", "0"}, "0 must be a length"}, {{"--source-length", "9:3"}, "must not end before"},
      {{"--source-length", "3:99"}, "from 1 to 39"},    {{"--target-length", "41"}, "40 positions"},
      {{"--repetitions", "0"}, "--repetitions"},        {{"--compute", "int2"}, "--compute"},
  };
  for (const auto& [arguments, expected] : cases) {
    std::vector<std::string> all = {"bench", "translate", model};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_THAT(RefusalOf(all), HasSubstr(expected));
  }
  EXPECT_THAT(RefusalOf({"bench", "train", "--train", "a", "b", "--layers", "0"}), HasSubstr("layers"));
  EXPECT_THAT(RefusalOf({"bench", "--threads", "2"}), HasSubstr("headlight bench needs a command:"));
}

}  // namespace
}  // namespace headlight::bench_test
