// Checks that no command overwrites its inputs through any path.
#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/cli/program/testing.h"
#include "headlight/pipelines/drawing_testing.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/protein_testing.h"

namespace headlight::overwriting_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const std::string kEncoder = HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences";

struct OverwritingTest : ProgramTest {
  OverwritingTest() : text(Write("text", "Hund\n")) {
    fs::create_directory(folder.File("inner"));
    fs::create_symlink(text, folder.File("link"));
    fs::create_hard_link(text, folder.File("hard"));
  }
  std::vector<std::string> PathsToText() const {
    std::vector<std::string> paths = {text};
    for (const char* path : {"inner/../text", "./text", "link", "hard"}) paths.push_back(folder.File(path));
    return paths;
  }

  const std::string text;
};

TEST_F(OverwritingTest, IsRefusedForEveryPathToAnInput) {
  const std::string other = Write("other", "dog\n");
  for (const std::string& out : PathsToText()) {
    const std::vector<std::vector<std::string>> commands = {
        {"embed", kEncoder, text, "--out", out},
        {"translate", model, text, "--output-attentions", out},
        {"forward", model, text, "--out", out},
        {"evaluate", model, text, "--reference", other, "--out", out},
        {"evaluate", model, other, "--reference", text, "--out", out},
    };
    for (const std::vector<std::string>& command : commands) {
      EXPECT_THAT(RefusalOf(command), AllOf(HasSubstr(out), HasSubstr("reads the same file"))) << command[0];
      EXPECT_EQ(ReadFile(text), "Hund\n");
    }
  }
}

TEST_F(OverwritingTest, IsRefusedForTheFilesOfAModel) {
  const std::string config = model + "/config.json", before = ReadFile(config), weights = folder.File("weights");
  fs::create_hard_link(model + "/model.safetensors", weights);
  const std::string inputs = Write("inputs.safetensors", "");
  for (const std::string& out : {config, weights}) {
    const std::vector<std::vector<std::string>> commands = {
        {"translate", model, text, "--output-attentions", out},
        {"forward", model, inputs, "--out", out},
        {"evaluate", model, text, "--reference", text, "--out", out},
        {"bench", "translate", model, "--output-tokens", out},
    };
    for (const std::vector<std::string>& command : commands)
      EXPECT_THAT(RefusalOf(command), HasSubstr("reads the same file")) << command[0];
  }
  EXPECT_EQ(ReadFile(config), before);
  // An image can be written to the model's folder, and can be replaced.
  for (int i = 0; i < 2; ++i) MustRun({"look", model, "--source", "Hund", "--out", model + "/hund.svg"});
}

TEST_F(OverwritingTest, IsRefusedForImagesAndIndexes) {
  const std::string clip = folder.File("clip"), dalle = folder.File("dalle"), index = folder.File("index");
  for (const std::string& path : {clip, dalle}) fs::create_directory(path);
  SaveTinyClip(clip);
  SaveTinyDalle(dalle);
  MustRun({"embed", clip, text, "--index", index});
  const std::string image = folder.File("a.png"), page = folder.File("page.html"), half = folder.File("half.png");
  fs::copy(HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png", image);
  fs::create_hard_link(image, half);
  fs::create_hard_link(index + "/index.json", page);
  const std::string before = ReadFile(page);
  EXPECT_THAT(RefusalOf({"search", index, "dog", "--out", page}), HasSubstr("this command reads the same"));
  EXPECT_THAT(RefusalOf({"draw", dalle, "dog", "--image", image, "--out", half}),
              HasSubstr("this command reads the same"));
  EXPECT_THAT(RefusalOf({"draw", dalle, "dog", "--out", "-"}), HasSubstr("--out -"));
  fs::create_directory(folder.File("drawn"));
  fs::create_hard_link(image, folder.File("drawn/2.png"));
  EXPECT_THAT(RefusalOf({"draw", dalle, "dog", "dog", "--image", image, "--out", folder.File("drawn")}),
              HasSubstr("this command reads the same"));
  fs::create_hard_link(clip + "/model.safetensors", folder.File("weights.png"));
  EXPECT_THAT(RefusalOf({"draw", dalle, "dog", "--reranker", clip, "--out", folder.File("weights.png")}),
              HasSubstr("this command reads the same"));
  EXPECT_THAT(RefusalOf({"embed", clip, text, "--index", clip}), HasSubstr("is not empty"));
  EXPECT_EQ(ReadFile(page), before);
  EXPECT_EQ(fs::file_size(image), fs::file_size(HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png"));
}

TEST_F(OverwritingTest, IsRefusedForStructures) {
  const std::string structure = Write("a.pdb", StrandAsPdb()), other = Write("b.pdb", StrandAsPdb());
  for (const char* link : {"same.cif", "same.svg"}) fs::create_hard_link(structure, folder.File(link));
  for (const auto& [option, out] : {std::pair("--out", "same.cif"), std::pair("--plot", "same.svg")}) {
    EXPECT_THAT(RefusalOf({"compare", structure, other, option, folder.File(out)}), HasSubstr("reads the same file"));
    EXPECT_THAT(RefusalOf({"compare", other, structure, option, folder.File(out)}), HasSubstr("reads the same file"));
  }
  EXPECT_EQ(ReadFile(structure), StrandAsPdb());
}

TEST_F(OverwritingTest, IsRefusedForStructuresAndFilesNextToThem) {
  const std::string fold = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/model";
  const std::string alignment = Write("a.cif", ">query\nMKV\n"), before = ReadFile(alignment);
  fs::create_hard_link(alignment, folder.File("b.pae.json"));
  fs::create_symlink(alignment, folder.File("c.2.cif"));
  const std::vector<std::vector<std::string>> cases = {
      {"--out", folder.File("inner/../a.cif")},
      {"--out", folder.File("b.cif"), "--pae"},
      {"--out", folder.File("c.cif"), "--num-seeds", "2", "--all"},
      {"--out", folder.File("t.cif"), "--templates", folder.File("t.cif")},
      {"--out", folder.File("t.cif"), "--templates", alignment, "--template-msa", folder.File("t.cif")},
  };
  for (std::vector<std::string> arguments : cases) {
    arguments.insert(arguments.begin(), {"fold", fold, "--msa", alignment});
    EXPECT_THAT(RefusalOf(arguments), HasSubstr("reads the same file"));
  }
  EXPECT_EQ(ReadFile(alignment), before);
}

TEST_F(OverwritingTest, IsRefusedForNamesThatTheCommandChooses) {
  const std::string shortlist = model + "/shortlist.safetensors";
  fs::create_symlink(text, shortlist);
  EXPECT_THAT(RefusalOf({"shortlist", model, "--train", text, text}), HasSubstr("reads the same file"));
  fs::rename(text, folder.File("tokenizer.json"));
  EXPECT_THAT(RefusalOf({"train", "tokenizer", folder.File("hard"), "--out", folder.path()}),
              HasSubstr("this command reads the same"));
  EXPECT_THAT(RefusalOf({"convert", model, "--out", folder.File("inner/../model"), "--compute", "int8"}),
              HasSubstr("must not be the folder"));
  EXPECT_EQ(ReadFile(folder.File("hard")), "Hund\n");
}

TEST_F(OverwritingTest, IsRefusedForTwoOutputs) {
  fs::create_symlink(folder.File("a.svg"), folder.File("b.svg"));
  WriteFile(folder.File("a.svg"), "before");
  const std::vector<std::vector<std::string>> pairs = {
      {folder.File("a.svg"), folder.File("inner/../a.svg")},
      {folder.File("a.svg"), folder.File("b.svg")},
      {folder.File("new.html"), folder.File("inner/../new.html")},
  };
  for (const auto& pair : pairs)
    EXPECT_THAT(RefusalOf({"look", model, "--source", "Hund", "--out", pair[0], "--out", pair[1]}),
                HasSubstr("goes to the same file"));
  EXPECT_EQ(ReadFile(folder.File("a.svg")), "before");
}

TEST_F(OverwritingTest, AFileIsNotNamedAsStandardInputIs) {
  EXPECT_THAT(RefusalOf({"forward", model, text, "--out", "-"}), HasSubstr("--out -: must be a"));
  EXPECT_THAT(RefusalOf({"embed", kEncoder, text, "--out", "-"}), HasSubstr("--out -: must be a"));
  EXPECT_FALSE(fs::exists("-"));
}

TEST_F(OverwritingTest, IsRefusedForTheOptionsFile) {
  const std::string options = Write("options.svg", "quiet = true\n");
  EXPECT_THAT(RefusalOf({"look", model, "--source", "Hund", "--config", options, "--out", options}),
              HasSubstr("reads the same file"));
  EXPECT_THAT(RefusalOf({"embed", kEncoder, text, "--config", options, "--out", folder.File("inner/../options.svg")}),
              HasSubstr("reads the same file"));
  EXPECT_EQ(ReadFile(options), "quiet = true\n");
}

TEST_F(OverwritingTest, IsRefusedForStandardOutput) {
  for (const std::string& input : PathsToText()) {
    const Outcome outcome = RunProgram({"translate", model, input}, "", text);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("standard output: this command reads"));
  }
  EXPECT_EQ(ReadFile(text), "Hund\n");
  const Outcome both = RunProgram({"embed", kEncoder, "--out", text}, "dog\n", text);
  EXPECT_THAT(both.err, HasSubstr("standard output goes to the"));
}

}  // namespace
}  // namespace headlight::overwriting_test
