#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "headlight/cli/program/testing.h"
#include "headlight/models/alphafold.h"
#include "headlight/models/family.h"
#include "headlight/protein/files/structure_files.h"
#include "tests/folding_testing.h"

namespace headlight::train_folding_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

// A folder of three synthetic structures, and an index of two of them. One structure has an alignment.
struct Setting {
  TemporaryFolder folder;
  std::string structures = folder.File("structures"), index = folder.File("index.tsv");

  Setting() {
    std::filesystem::create_directory(structures);
    const std::vector<std::string> letters = {"MARNDCQEGHILKFPSTWYV", "GSTFYWKRHDEAVLIM", "ACDEFGHIKLMN"};
    for (std::size_t i = 0; i < letters.size(); ++i)
      WriteFile(fmt::format("{}/{}.cif", structures, i), WriteMmcif({"made", {MadeChain(letters[i], i)}}));
    WriteFile(folder.File("2.a3m"), ">query\nACDEFGHIKLMN\n>one\nACDEYGHIKLMN\n>two\nA-DEFGgHIRLMN\n");
    WriteFile(index, "structures/1.cif\tA\nstructures/2.cif\tA\t2.a3m\n");
  }

  Outcome Train(std::vector<std::string> more) const {
    more.insert(more.begin(), {"train", "folding", "--train", structures, "--valid", index});
    return RunProgram(more);
  }
  std::vector<std::string> Small(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> options = {"--out",
                                        folder.File(out),
                                        "--layers",
                                        "1",
                                        "--model-dim",
                                        "16",
                                        "--pair-dim",
                                        "8",
                                        "--single-dim",
                                        "16",
                                        "--heads",
                                        "2",
                                        "--structure-layers",
                                        "2",
                                        "--recycles",
                                        "1",
                                        "--batch-size",
                                        "2",
                                        "--crop",
                                        "14"};
    options.insert(options.end(), more.begin(), more.end());
    return options;
  }
};

TEST(TrainFolding, AModelIsTrainedAndGoesOn) {
  const Setting setting;
  const Outcome trained = setting.Train(setting.Small("model", {"--epochs", "2", "--rows", "8"}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("3 chains of 48 residues to train on, 0 with an alignment"));
  EXPECT_THAT(trained.err, HasSubstr("2 chains of 28 residues to validate on, 1 with an alignment"));
  EXPECT_THAT(trained.err, AllOf(HasSubstr("lddt_ca 0."), HasSubstr("tm_score 0.")));
  const std::string model = setting.folder.File("model");
  const std::unique_ptr<AlphaFold> made = LoadModel<AlphaFold>(model);
  EXPECT_EQ(made->config().alignment, 16);
  EXPECT_EQ(made->config().rows, 8);
  EXPECT_EQ(made->config().recycles, 1);
  EXPECT_EQ(made->config().error_bins, 64);
  EXPECT_THAT(setting.Train(setting.Small("model", {})).err, HasSubstr("holds a training already"));

  const Outcome evaluated = RunProgram({"evaluate", model, setting.index, "--train", setting.structures});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, AllOf(HasSubstr("lddt ca 0."), HasSubstr(" of 2 chains\nloss "),
                                   HasSubstr(".cif, chain A for every chain: lddt ca 1.0000"),
                                   HasSubstr("mean distances by types and positions: lddt ca 1.0000")));
  EXPECT_THAT(RunProgram({"evaluate", model, setting.index, "--knn", "1"}).err, HasSubstr("--knn is not for this"));

  const Outcome further = setting.Train({"--from", model, "--out", setting.folder.File("further"), "--fine-tuning",
                                         "--epochs", "1", "--batch-size", "3"});
  ASSERT_EQ(further.exit_code, 0) << further.err;
  EXPECT_EQ(LoadModel<AlphaFold>(setting.folder.File("further"))->config().rows, 8);
}

TEST(TrainFolding, TemplatesAreRead) {
  const Setting setting;
  WriteFile(setting.index, "structures/1.cif\tA\t\tstructures/0.cif;structures/2.cif\nstructures/2.cif\tA\n");
  const auto train = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> options = setting.Small(out, {"--epochs", "2", "--rows", "6", "--train", setting.index});
    options.insert(options.end(), more.begin(), more.end());
    return setting.Train(options);
  };
  const Outcome trained = train("model", {"--max-templates", "2"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("1 with templates"));
  const std::unique_ptr<AlphaFold> made = LoadModel<AlphaFold>(setting.folder.File("model"));
  EXPECT_EQ(made->plan().templates, 2);
  EXPECT_EQ(made->plan().rows, 4);
  const Outcome none = train("none", {});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("it has templates"));
}

TEST(TrainFolding, TrianglesAreLeftOutAndCovariationIsRead) {
  const Setting setting;
  const auto train = [&](const std::string& out, const std::string& more) {
    const Outcome trained =
        setting.Train(setting.Small(out, {"--epochs", "1", "--rows", "4", "--train", setting.index, more}));
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    return setting.folder.File(out);
  };
  const std::unique_ptr<AlphaFold> without = LoadModel<AlphaFold>(train("without", "--no-triangles"));
  EXPECT_FALSE(without->config().triangles);
  for (const Parameter& parameter : without->parameters().all())
    EXPECT_THAT(parameter.names, Each(Not(HasSubstr(".tri_"))));

  const std::string covarying = train("covarying", "--covariation");
  const std::unique_ptr<AlphaFold> reads = LoadModel<AlphaFold>(covarying);
  EXPECT_TRUE(reads->plan().covariation);
  // Checks that the weight is trained and has an effect.
  const auto weight = [](AlphaFold& model) -> Tensor& {
    auto& all = model.parameters().all();
    return std::find_if(all.begin(), all.end(),
                        [](const Parameter& parameter) {
                          return parameter.names.front() == "input_embedder.linear_covariation.weight";
                        })
        ->value;
  };
  AlphaFold fresh(reads->config());
  fresh.parameters().Initialize(1);
  const std::unique_ptr<AlphaFold> last = LoadModel<AlphaFold>(covarying + "/last");
  EXPECT_NE(weight(*last).ToVector<float>(), weight(fresh).ToVector<float>());
  const std::string changed = setting.folder.File("changed");
  std::filesystem::create_directory(changed);
  weight(*reads).Fill(3);
  reads->Save(changed);
  const auto output = [&](const std::string& command, const std::string& model, const std::string& file) {
    const Outcome outcome = RunProgram({command, model, file, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string letters = "MARNDCQEGHILKMFPSTWYVARNDCQEGHIL";  // long enough for long-range contacts
  WriteFile(setting.folder.File("long.cif"), WriteMmcif({"made", {MadeChain(letters, 3)}}));
  WriteFile(setting.folder.File("long.a3m"), ">query\n" + letters + "\n>one\nV" + letters.substr(1) + "\n");
  WriteFile(setting.folder.File("long.tsv"), "long.cif\tA\tlong.a3m\n");
  EXPECT_THAT(output("evaluate", covarying, setting.folder.File("long.tsv")),
              AllOf(HasSubstr("\"information_contact_precision\""), HasSubstr("\"coupling_contact_precision\"")));
  for (const auto& [command, file] :
       {std::pair("evaluate", setting.index), std::pair("contacts", setting.folder.File("2.a3m"))})
    EXPECT_NE(output(command, covarying, file), output(command, changed, file)) << command;
}

TEST(TrainFolding, AResumedTrainingIsTheSame) {
  const Setting setting;
  const auto options = [&](const std::string& out, const std::string& epochs, const std::string& threads) {
    return setting.Small(out, {"--epochs", epochs, "--warmup", "2", "--schedule", "inverse-square-root", "--resume",
                               "--threads", threads});
  };
  ASSERT_EQ(setting.Train(options("whole", "4", "2")).exit_code, 0);
  ASSERT_EQ(setting.Train(options("parts", "2", "1")).exit_code, 0);
  const Outcome resumed = setting.Train(options("parts", "4", "3"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  // The second file contains the moving averages.
  for (const char* file : {"last/model.safetensors", "model.safetensors"})
    EXPECT_EQ(ReadFile(setting.folder.File("parts/" + std::string(file))),
              ReadFile(setting.folder.File("whole/" + std::string(file))))
        << file;
  const Outcome other =
      setting.Train(setting.Small("parts", {"--epochs", "5", "--resume", "--clip-example-norm", "1"}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("--clip-example-norm"));
}

TEST(TrainFolding, ErrorsAreClampedInSoManyChains) {
  const Setting setting;
  const auto weights = [&](const std::string& out, const std::string& clamped) {
    EXPECT_EQ(setting.Train(setting.Small(out, {"--epochs", "3", "--clamped", clamped})).exit_code, 0);
    return ReadFile(setting.folder.File(out + "/last/model.safetensors"));
  };
  const std::string never = weights("never", "0"), always = weights("always", "1");
  EXPECT_NE(weights("half", "0.5"), always);
  EXPECT_NE(never, always);
  EXPECT_EQ(never, weights("again", "0"));
  EXPECT_THAT(setting.Train(setting.Small("out", {"--clamped", "1.5"})).err, HasSubstr("--clamped"));
}

TEST(TrainFolding, DistancesAreWeighed) {
  const Setting setting;
  const auto weights = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> options = setting.Small(out, {"--epochs", "3"});
    options.insert(options.end(), more.begin(), more.end());
    EXPECT_EQ(setting.Train(options).exit_code, 0);
    return ReadFile(setting.folder.File(out + "/last/model.safetensors"));
  };
  EXPECT_NE(weights("weighed", {"--smooth-lddt", "4"}), weights("none", {}));
  const Outcome other = setting.Train(setting.Small("weighed", {"--epochs", "4", "--resume", "--smooth-lddt", "3"}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("--smooth-lddt"));
}

TEST(TrainFolding, RefusesWhatCannotBe) {
  const Setting setting;
  const std::string out = setting.folder.File("out");
  const auto refusal = [&](const std::vector<std::string>& more) {
    return setting.Train(setting.Small("out", more)).err;
  };
  EXPECT_THAT(refusal({"--valid", setting.folder.File("none.tsv")}), HasSubstr("none.tsv"));
  WriteFile(setting.index, "structures/1.cif\tB\n");
  EXPECT_THAT(refusal({}), AllOf(HasSubstr("index.tsv:1: "), HasSubstr("no chain 'B'")));
  WriteFile(setting.index, "structures/1.cif\tA\t2.a3m\n");
  EXPECT_THAT(refusal({}), AllOf(HasSubstr("index.tsv:1: "), HasSubstr("2.a3m")));
  WriteFile(setting.structures + "/broken.pdb", "ATOM      1  N   ALA A   1      1.0");
  EXPECT_THAT(refusal({"--valid", setting.structures}), HasSubstr("broken.pdb"));
  EXPECT_THAT(refusal({"--heads", "3"}), HasSubstr("--heads 3 does not divide"));
  EXPECT_THAT(refusal({"--crop", "0"}), HasSubstr("--crop"));
  EXPECT_THAT(refusal({"--preset", "huge"}), HasSubstr("--preset"));
  EXPECT_THAT(setting.Train({"--out", out, "--from", setting.folder.path()}).err, HasSubstr("config.json"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace headlight::train_folding_test
