// Tests properties that all commands share, and small commands.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"

namespace headlight::program_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Program, HasHelpForEveryCommand) {
  EXPECT_THAT(RunProgram({"--version"}).out, testing::MatchesRegex("headlight [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  const Outcome help = RunProgram({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(RunProgram({"help"}).out, help.out);
  for (const std::string command : {"translate", "evaluate", "bleu", "look", "info", "forward"}) {
    const Outcome one = RunProgram({command, "--help"});
    EXPECT_EQ(one.exit_code, 0);
    EXPECT_EQ(one.err, "");
    EXPECT_THAT(one.out, HasSubstr("headlight " + command + " "));
    EXPECT_THAT(one.out, HasSubstr("Example"));
    if (command != "bleu") {
      EXPECT_THAT(RefusalOf({command}), HasSubstr(" needs "));
    }
  }
}

TEST(Program, ListsTheCommandsIfOneIsUnknown) {
  EXPECT_THAT(RefusalOf({"translte", "model"}), HasSubstr("no command \"translte\"; did you"));
  EXPECT_THAT(RefusalOf({"--quiet"}), HasSubstr(", translate"));
  EXPECT_THAT(RefusalOf({"--color"}), HasSubstr("headlight: "));
}

// Checks that each command is a file without a header (cmake/commands.cmake).
TEST(Program, HasACommandForEachFile) {
  std::size_t commands = 0;
  for (const std::string group : {"commands", "bench", "train"}) {
    const std::string folder = fmt::format("{}/headlight/cli/{}/", HEADLIGHT_SOURCE_DIR, group);
    const std::string of_program = RunProgram({"--help-all"}).out,
                      of_group = group == "commands" ? of_program : RunProgram({group, "--help"}).out;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::string name = entry.path().stem();
      if (entry.path().extension() != ".cc" || name.ends_with("_test") || std::filesystem::exists(folder + name + ".h"))
        continue;
      ++commands;
      if (name.starts_with(group + "_")) name = name.substr(group.size() + 1);
      if (name == "encoder" || name == "sequences" || name == "image_text")
        continue;  // the file defines several commands
      std::ranges::replace(name, '_', '-');
      EXPECT_THAT(name == group ? of_program : of_group, HasSubstr("\n  " + name + " "));
    }
  }
  EXPECT_GT(commands, 20U);
}

// Checks that options without effect are rejected.
TEST(Program, RefusesOptionsWithoutEffect) {
  const std::string encoder = HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences";
  const TemporaryFolder gpt, marian;
  SaveTinyGpt(gpt.path());
  SaveTinyModel(marian.path());
  EXPECT_THAT(RefusalOf({"embed", encoder, "--top-k", "3"}), HasSubstr("--search"));
  EXPECT_THAT(RefusalOf({"tokenize", gpt.path(), "--decode", "--no-special"}), HasSubstr("--decode"));
  EXPECT_THAT(RefusalOf({"tokenize", gpt.path(), "--decode", "--plain"}), HasSubstr("--decode"));
  EXPECT_THAT(RefusalOf({"look", gpt.path(), "--text", "a", "--prefix", "b", "--out", "a.svg"}), HasSubstr("--source"));
  EXPECT_THAT(RefusalOf({"generate", gpt.path(), "a", "--seed", "3"}), HasSubstr("--seed is for sampling"));
  EXPECT_THAT(RefusalOf({"generate", gpt.path(), "a", "--length-penalty", "2"}),
              HasSubstr("--length-penalty is for a --beam-size"));
  EXPECT_THAT(RefusalOf({"generate", gpt.path(), "a", "--top-k", "2", "--beam-size", "2"}),
              HasSubstr("--beam-size of 1"));
  EXPECT_THAT(RefusalOf({"generate", gpt.path(), "a", "--draft", "--beam-size", "2"}),
              HasSubstr("--beam-size must be 1"));
  EXPECT_THAT(RefusalOf({"translate", marian.path(), "--draft"}), HasSubstr("--draft is for greedy choice:"));
  EXPECT_THAT(RefusalOf({"bench", "generate", gpt.path(), "--draft", "--batch-size", "2"}),
              HasSubstr("--batch-size 1"));
  EXPECT_THAT(RefusalOf({"bench", "translate", marian.path(), "--draft"}), HasSubstr("--batch-size 1"));
}

struct ProgramFolderTest : ProgramTest {};

TEST_F(ProgramFolderTest, LeavesNewerInstructionsUnused) {
  const std::string input = "Ein Hund.\nZwei Kinder\n";
  const Outcome expected = RunProgram({"translate", model}, input);
  const Outcome expected_int8 = RunProgram({"translate", model, "--compute", "int8"}, input);
  setenv("HEADLIGHT_CPU", "avx512", /*overwrite=*/1);
  const Outcome without_amx = RunProgram({"translate", model, "--compute", "int8"}, input);
  setenv("HEADLIGHT_CPU", "avx-vnni", /*overwrite=*/1);
  const Outcome limited_int8 = RunProgram({"translate", model, "--compute", "int8"}, input);
  setenv("HEADLIGHT_CPU", "avx2", /*overwrite=*/1);
  const Outcome limited = RunProgram({"translate", model}, input);
  const std::string refusal = RefusalOf({"translate", model, "--compute", "bfloat16"}, input);
  setenv("HEADLIGHT_CPU", "sse9", /*overwrite=*/1);
  const std::string unknown = RefusalOf({"--version"});
  unsetenv("HEADLIGHT_CPU");
  EXPECT_EQ(limited.out, expected.out);
  EXPECT_EQ(without_amx.out, expected_int8.out);
  EXPECT_EQ(limited_int8.out, expected_int8.out);
  EXPECT_EQ(limited_int8.exit_code, 0) << limited_int8.err;
  EXPECT_THAT(refusal, HasSubstr("cannot compute in bfloat16"));
  EXPECT_THAT(unknown, HasSubstr("HEADLIGHT_CPU may be \"avx2\""));
}

TEST_F(ProgramFolderTest, ReadsOptionsFromAFile) {
  const std::string input = "Ein Hund.\nZwei Kinder\n";
  const std::string options = Write("options.toml", "# what we like\nbeam-size = 2\nn-best = 2\nquiet = true\n");
  const Outcome expected = RunProgram({"translate", model, "--beam-size", "2", "--n-best", "2"}, input);
  EXPECT_EQ(RunProgram({"translate", model, "--config", options}, input).out, expected.out);
  EXPECT_EQ(RunProgram({"--config", options, "translate", model}, input).out, expected.out);
  // Options on the command line override options in the file.
  EXPECT_EQ(Lines(RunProgram({"translate", model, "--config", options, "--n-best", "1"}, input).out).size(), 2U);
  const auto refusal = [&](const std::string& text) {
    return RefusalOf({"translate", model, "--config", Write("bad.toml", text)}, input);
  };
  EXPECT_THAT(refusal("beams = 2\n"), HasSubstr("has no option --beams"));
  EXPECT_THAT(refusal("[translate]\nbeam-size = 2\n"), HasSubstr("section"));
  EXPECT_THAT(refusal("beam-size = \"many\"\n"), HasSubstr("beam-size"));
  EXPECT_THAT(RefusalOf({"translate", model, "--config", folder.File("none.toml")}), HasSubstr("none.toml"));
}

TEST_F(ProgramFolderTest, InfoSaysWhatAFolderHolds) {
  const Outcome text = RunProgram({"info", model});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("family            marian\n"));
  EXPECT_THAT(text.out, HasSubstr("source_tokenizer  BPE\n"));
  const Json json = ParseJson(RunProgram({"info", model, "--json"}).out, "output");
  EXPECT_EQ(*json.Find("decoder_layers")->As<std::int64_t>(), 3);
  EXPECT_EQ(*json.Find("vocabulary")->As<std::int64_t>(), 60);
  // The parameters are 60 embeddings of 16 elements, an output bias, and the blocks below. An attention block has 4
  // matrices and a norm. A feed-forward block has 2 matrices and a norm.
  const std::int64_t attention = 4 * (16 * 16 + 16), ffn = 2 * 16 * 24 + 24 + 16, norm = 2 * 16;
  EXPECT_EQ(*json.Find("parameters")->As<std::int64_t>(),
            60 * 16 + 60 + 2 * (attention + ffn + 2 * norm) + 3 * (2 * attention + ffn + 3 * norm));
}

TEST_F(ProgramFolderTest, LookMakesPagesAndImages) {
  const std::string page = folder.File("a.html"), image = folder.File("a.svg"), pixels = folder.File("a.png"),
                    print = folder.File("a.pdf");
  const Outcome outcome = RunProgram({"look", model, "--source", "Ein Hund läuft.", "--target", "A dog runs.", "--out",
                                      page, "--out", image, "--out", pixels, "--out", print});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(ReadFile(page), testing::AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr("Cross-attention")));
  EXPECT_THAT(ReadFile(image), HasSubstr("<svg"));
  EXPECT_THAT(ReadFile(pixels), StartsWith("\x89PNG"));
  EXPECT_THAT(ReadFile(print), StartsWith("%PDF"));
  const Outcome one =
      RunProgram({"look", model, "--source", "Hund", "--attention", "cross", "--layer", "3", "--out", page, "--quiet"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.err, "");
  EXPECT_THAT(ReadFile(page), testing::Not(HasSubstr("Decoder self-attention")));
}

TEST_F(ProgramFolderTest, LookRefusesImpossibleRequests) {
  const std::string page = folder.File("a.html");
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"look", model});
    return RefusalOf(arguments);
  };
  EXPECT_THAT(refusal({"--source", "Hund", "--out", folder.File("a.gif")}), HasSubstr(".html, .svg, .png or .pdf"));
  EXPECT_THAT(refusal({"--text", "Hund", "--out", page}), HasSubstr("give it with --source, not with --text"));
  EXPECT_THAT(refusal({"--source", " ", "--out", page}), HasSubstr("the source has no words"));
  EXPECT_THAT(refusal({"--source", "H\xff", "--out", page}), HasSubstr("the source: byte 1 is"));
  EXPECT_THAT(refusal({"--source", std::string(100, 'a'), "--out", page}), HasSubstr("at most 39"));
  EXPECT_THAT(refusal({"--source", "Hund", "--layer", "4", "--out", page}), HasSubstr("layer 4: the model has"));
  EXPECT_THAT(refusal({"--source", "Hund", "--layer", "0", "--out", page}), HasSubstr("--layer must be at least"));
  EXPECT_THAT(refusal({"--source", "Hund", "--attention", "self", "--out", page}),
              HasSubstr("--attention must be encoder, decoder,"));
  EXPECT_THAT(refusal({"--source", "Hund", "--out", folder.File("none/a.html")}), HasSubstr("none/a.html"));
  EXPECT_FALSE(std::filesystem::exists(page));
}

// A damaged model folder, and a command that loads it.
struct BadFolder {
  std::string name;
  std::function<void(const std::string& model)> spoil;
  std::string expected;
};

void ReplaceIn(const std::string& path, std::string_view from, std::string_view to) {
  std::string text = ReadFile(path);
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << path;
  WriteFile(path, text.replace(at, from.size(), to));
}

const std::vector<BadFolder>& BadFolders() {
  namespace fs = std::filesystem;
  static const std::vector<BadFolder> folders = {
      {"missing", [](const std::string& model) { fs::remove_all(model); }, "model"},
      {"a_file", [](const std::string& model) { fs::remove_all(model), WriteFile(model, "x"); }, "model"},
      {"empty", [](const std::string& model) { fs::remove_all(model), fs::create_directory(model); }, "config.json"},
      {"no_weights", [](const std::string& model) { fs::remove(model + "/model.safetensors"); }, "model.safetensors"},
      {"truncated_weights", [](const std::string& model) { fs::resize_file(model + "/model.safetensors", 5000); },
       "model.safetensors"},
      {"empty_weights", [](const std::string& model) { WriteFile(model + "/model.safetensors", ""); },
       "model.safetensors"},
      {"header_that_lies",
       [](const std::string& model) {
         ReplaceIn(model + "/model.safetensors", "\"data_offsets\":[0,", "\"data_offsets\":[9,");
       },
       "model.safetensors"},
      {"renamed_tensor",
       [](const std::string& model) { ReplaceIn(model + "/model.safetensors", "layers.0.fc1", "layers.9.fc1"); },
       "layers.0.fc1"},
      {"wrong_shape",
       [](const std::string& model) { ReplaceIn(model + "/config.json", "\"d_model\": 16", "\"d_model\": 18"); },
       "[60, 1"},
      {"heads_that_do_not_divide",
       [](const std::string& model) {
         ReplaceIn(model + "/config.json", "\"encoder_attention_heads\": 2", "\"encoder_attention_heads\": 3");
       },
       "3"},
      {"config_no_json", [](const std::string& model) { WriteFile(model + "/config.json", "{\"d_model\": "); },
       "config.json"},
      {"foreign_family", [](const std::string& model) { ReplaceIn(model + "/config.json", "\"marian\"", "\"mamba\""); },
       "mamba"},
      {"no_tokenizer",
       [](const std::string& model) {
         for (const char* file : {"/source.spm", "/target.spm", "/vocab.json", "/tokenizer.json"})
           fs::remove(model + file);
       },
       "tokenizer"},
      {"truncated_tokenizer", [](const std::string& model) { fs::resize_file(model + "/source.spm", 300); },
       "source.spm"},
      {"vocabulary_no_json", [](const std::string& model) { WriteFile(model + "/vocab.json", "[]"); }, "vocab.json"},
  };
  return folders;
}

struct BadFolderTest : ProgramTest, testing::WithParamInterface<BadFolder> {};

TEST_P(BadFolderTest, IsRefusedInOneLine) {
  GetParam().spoil(model);
  const std::string page = folder.File("a.html");
  EXPECT_THAT(RefusalOf({"translate", model}, "Hund\n"), HasSubstr(GetParam().expected));
  EXPECT_THAT(RefusalOf({"info", model}), HasSubstr(GetParam().expected));
  EXPECT_THAT(RefusalOf({"look", model, "--source", "Hund", "--out", page}), HasSubstr(GetParam().expected));
  EXPECT_FALSE(std::filesystem::exists(page));
}

INSTANTIATE_TEST_SUITE_P(Program, BadFolderTest, testing::ValuesIn(BadFolders()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace headlight::program_test
