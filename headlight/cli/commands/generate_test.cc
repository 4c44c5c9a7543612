#include <gmock/gmock.h>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/io/safetensors.h"
#include "headlight/pipelines/text_generator.h"

namespace headlight::generate_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct GenerateTest : testing::Test {
  GenerateTest() { SaveTinyGpt(folder.path()); }
  const TemporaryFolder folder;
  const std::string model = folder.path();
};

TEST_F(GenerateTest, ContinuesPrompts) {
  const std::string prompt = "A dog";
  const std::string expected = TextGenerator::Load(model).Generate(prompt, {.max_new_tokens = 12}).text;
  EXPECT_EQ(RunProgram({"generate", model, prompt, "--max-new-tokens", "12"}).out, expected + "\n");

  EXPECT_EQ(RunProgram({"generate", model, prompt, "--max-new-tokens", "12", "--draft"}).out, expected + "\n");

  const Outcome lines = RunProgram({"generate", model, "--max-new-tokens", "12", "--json"}, "A dog\nTwo\n");
  const std::vector<std::string> rows = Lines(lines.out);
  ASSERT_EQ(rows.size(), 2U) << lines.err;
  const JsonView row(ParseJson(rows[0], "output"), "output");
  EXPECT_EQ(row["prompt"].String(), prompt);
  EXPECT_EQ(row["text"].String(), expected);
  EXPECT_EQ(row["finish_reason"].String(), "length");
  EXPECT_EQ(row["tokens"].Integer(), 12);
  EXPECT_LT(row["log_probability"].Number(), 0);
  EXPECT_EQ(Lines(RunProgram({"generate", model, "--beam-size", "3"}, "A dog\nTwo\n\n").out).size(), 3U);

  const std::vector<std::string> draw = {"generate", model, "Two", "--temperature", "30", "--top-p", "0.9", "--seed"};
  const auto drawn = [&](const char* seed) {
    std::vector<std::string> arguments = draw;
    arguments.push_back(seed);
    return RunProgram(arguments).out;
  };
  EXPECT_EQ(drawn("1"), drawn("1"));
  EXPECT_NE(drawn("1"), drawn("2"));

  EXPECT_THAT(RefusalOf({"generate", model, "A", "--top-p", "0"}), HasSubstr("--top-p"));
  EXPECT_THAT(RefusalOf({"generate", model, "A", "--max-new-tokens", "3", "--min-new-tokens", "4"}),
              HasSubstr("--min-new-tokens must be from 0"));
  std::string many;
  for (int i = 0; i < 41; ++i) many += " dog";
  EXPECT_THAT(
      RefusalOf({"generate", model}, many + "\n"),
      HasSubstr("standard input: line 1: 41 tokens are more than the model's 40 positions; --truncate leaves out "
                "its beginning"));
  EXPECT_THAT(RefusalOf({"generate", model, many}), HasSubstr("the prompt: 41 tokens are more"));
  const Outcome cut = RunProgram({"generate", model, "--truncate", "--json", "--max-new-tokens", "4"}, many + "\n");
  EXPECT_THAT(cut.err, HasSubstr("line 1: the model reads 40 tokens at once: its beginning is left out"));
  const JsonView after(ParseJson(cut.out, "output"), "output");
  EXPECT_EQ(after["prompt_tokens"].Integer(), 36);
  EXPECT_EQ(after["tokens"].Integer(), 4);
  EXPECT_NE(RunProgram({"generate", model, "A", "--file", "file"}).exit_code, 0);
}

TEST_F(GenerateTest, NotesThatTheModelsPositionsAreFull) {
  const Outcome alone = RunProgram({"generate", model, "A dog", "--max-new-tokens", "60"});
  EXPECT_EQ(alone.exit_code, 0);
  EXPECT_THAT(alone.err, HasSubstr("the prompt: the text ends"));
  EXPECT_THAT(alone.err, HasSubstr("the model's 40 positions"));
  const Outcome lines = RunProgram({"generate", model, "--max-new-tokens", "60", "--json"}, "A dog\nTwo\n");
  EXPECT_THAT(lines.err, HasSubstr("line 2: the text ends"));
  EXPECT_THAT(lines.out, HasSubstr("\"finish_reason\":\"positions\""));
  EXPECT_EQ(RunProgram({"generate", model, "A dog", "--max-new-tokens", "9"}).err, "");
}

TEST_F(GenerateTest, WritesSeveralTextsForAPrompt) {
  const std::vector<std::string> arguments = {"--temperature", "3", "--n-best", "3", "--max-new-tokens", "6"};
  std::vector<std::string> one = {"generate", model, "A dog"}, all = {"generate", model};
  one.insert(one.end(), arguments.begin(), arguments.end());
  all.insert(all.end(), arguments.begin(), arguments.end());
  const std::vector<std::string> drawn = Lines(RunProgram(one).out),
                                 of_both = Lines(RunProgram(all, "A dog\nTwo\n").out);
  ASSERT_EQ(drawn.size(), 3U);
  ASSERT_EQ(of_both.size(), 6U);
  EXPECT_EQ(std::vector(of_both.begin(), of_both.begin() + 3), drawn);
  EXPECT_NE(drawn[0], drawn[1]);
}

TEST_F(GenerateTest, LookTakesALanguageModel) {
  const std::string page = folder.File("page.html");
  const Outcome outcome = RunProgram({"look", model, "--text", "A dog 🙂", "--out", page});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("shows 2 attentions of "));
  EXPECT_THAT(outcome.err, Not(HasSubstr("source")));
  const std::string shown = ReadFile(page);
  EXPECT_THAT(shown, HasSubstr("▁"));
  EXPECT_THAT(shown, HasSubstr("🙂(1/"));
  EXPECT_THAT(shown, Not(HasSubstr("Ġ")));
  EXPECT_THAT(RefusalOf({"look", model, "--source", "A", "--out", page}), HasSubstr("give it with --text"));
}

TEST_F(GenerateTest, InfoTakesALanguageModel) {
  const JsonView info(ParseJson(RunProgram({"info", model, "--json"}).out, "output"), "output");
  EXPECT_EQ(info["family"].String(), "gpt2");
  EXPECT_EQ(info["positions"].Integer(), 40);
  EXPECT_GT(info["memory_bytes"].Integer(), 4 * info["parameters"].Integer());
}

// Checks that the outputs equal the outputs in tests/gpt_parity_test.cc, with padding before the texts.
TEST_F(GenerateTest, ForwardTakesALanguageModel) {
  const std::string gpt = HEADLIGHT_SOURCE_DIR "/tests/testdata/gpt/gpt3_odd_left";
  const Safetensors golden(gpt + "/golden.safetensors");
  const std::string in = folder.File("in.safetensors"), out = folder.File("out.safetensors");
  WriteSafetensors(in, {golden.At("input_ids"), golden.At("attention_mask")});
  const Outcome outcome = RunProgram({"forward", gpt, in, "--out", out});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Safetensors file(out);
  const Tensor mask = golden.Read("attention_mask", DType::int32);
  for (const char* name : {"last_hidden_state", "logits", "attentions.0", "attentions.1"}) {
    const Tensor ours = file.Read(name), theirs = golden.Read(name);
    ASSERT_EQ(ours.shape(), theirs.shape());
    const std::int64_t heads = ours.shape().rank() == 4 ? ours.shape()[1] : 1;
    for (std::int64_t row = 0; row < ours.rows(); ++row) {
      const std::int64_t batch = row / (heads * mask.columns()), token = row % mask.columns();
      if (mask.matrix<std::int32_t>().row(batch)[token] == 0) continue;
      for (std::int64_t i = 0; i < ours.columns(); ++i)
        EXPECT_NEAR(ours.matrix<float>().row(row)[i], theirs.matrix<float>().row(row)[i], 1e-4) << name;
    }
  }
  WriteSafetensors(in, {golden.At("input_ids"), golden.At("logits")});
  EXPECT_THAT(RefusalOf({"forward", gpt, in, "--out", out}), HasSubstr("is not an input"));
}

TEST_F(GenerateTest, ConvertsToFewerBits) {
  const TemporaryFolder other;
  const std::vector<std::string> arguments = {"A dog", "--max-new-tokens", "8"};
  const auto run = [&](std::vector<std::string> before) {
    before.insert(before.end(), arguments.begin(), arguments.end());
    return RunProgram(before).out;
  };
  for (const char* compute : {"int8", "int4"}) {
    const std::string out = other.File(compute);
    EXPECT_EQ(RunProgram({"convert", model, "--out", out, "--compute", compute}).exit_code, 0);
    EXPECT_EQ(run({"generate", out}), run({"generate", model, "--compute", compute}));
    EXPECT_THAT(RunProgram({"info", out}).out, HasSubstr(compute));
  }
  std::string config = ReadFile(other.File("int4/config.json"));
  WriteFile(other.File("int4/config.json"), config.replace(config.find("\"bits\": 4"), 9, "\"bits\": 5"));
  EXPECT_THAT(RefusalOf({"info", other.File("int4")}), HasSubstr("5 bits; 4 and"));
}

TEST_F(GenerateTest, ScoresTexts) {
  const std::string text = "A dog runs.";
  const TextScore score = TextGenerator::Load(model).Score({&text, 1}).front();
  const Outcome outcome = RunProgram({"score", model}, text + "\n\n");
  const std::vector<std::string> rows = Lines(outcome.out);
  ASSERT_EQ(rows.size(), 2U) << outcome.err;
  EXPECT_EQ(rows[0], fmt::format("{:.4f}\t{:.4f}\t{:.4f}\t{}", score.log_probability, score.perplexity(),
                                 score.bits_per_byte(), text));
  EXPECT_EQ(rows[1], "0.0000\t-\t-\t");
  EXPECT_THAT(outcome.err, StartsWith(fmt::format("2 texts, {} tokens, 11 bytes: perplexity ", score.tokens)));

  const TextScore windows = TextGenerator::Load(model)
                                .Score({&text, 1}, {.max_input_length = 4, .window_step = 1, .start_token = false})
                                .front();
  const Outcome by_windows =
      RunProgram({"score", model, "--max-input-length", "4", "--window-step", "1", "--start-token", "no"}, text + "\n");
  EXPECT_THAT(by_windows.out,
              StartsWith(fmt::format("{:.4f}\t{:.4f}\t", windows.log_probability, windows.perplexity())));
  EXPECT_EQ(windows.tokens, score.tokens - 1);
  EXPECT_THAT(RefusalOf({"score", model, "--max-input-length", "4", "--window-step", "4"}, text),
              HasSubstr("--window-step must be from 1"));

  const std::vector<std::string> tokens = Lines(RunProgram({"score", model, "--tokens", "--quiet"}, text + "\n").out);
  EXPECT_EQ(tokens.size(), score.token_scores.size());
  EXPECT_EQ(tokens[0], fmt::format("1\t{:.4f}\tA", *score.token_scores[0].log_probability));
  const JsonView row(ParseJson(Lines(RunProgram({"score", model, "--tokens", "--json"}, text + "\n").out)[0], "output"),
                     "output");
  EXPECT_EQ(row["pieces"].Items().size(), score.token_scores.size());
  EXPECT_NEAR(row["perplexity"].Number(), score.perplexity(), 1e-9);
  EXPECT_THAT(RefusalOf({"score", HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences"}, "A\n"),
              HasSubstr("name them with --variant"));

  const auto baseline = LoadModel<LanguageModel>(model);
  const TextGenerator quantized = TextGenerator::Load(model, {.compute = Compute::int8});
  const double divergence = quantized.Score({&text, 1}, {.baseline = baseline.get()}).front().kl_divergence();
  EXPECT_GT(divergence, 0);
  const Outcome compared =
      RunProgram({"score", model, "--compute", "int8", "--baseline", model, "--json"}, text + "\n");
  EXPECT_NEAR(*ParseJson(compared.out, "output").Find("kl_divergence")->As<double>(), divergence, 1e-12);
  EXPECT_THAT(compared.err, HasSubstr(fmt::format("KL divergence from {}: {:.6f} per token\n", model, divergence)));
  const std::string other = HEADLIGHT_SOURCE_DIR "/tests/testdata/decoders/llama_grouped_tied";
  EXPECT_THAT(RefusalOf({"score", model, "--baseline", other}, text), HasSubstr("they must be equal"));
}

}  // namespace
}  // namespace headlight::generate_test
