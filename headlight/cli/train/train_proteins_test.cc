// Tests headlight train masked-language-model --preset with an ESM-2 model.
#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/models/family.h"

namespace headlight::train_proteins_test {
namespace {

using testing::HasSubstr;

struct TrainProteins : ProgramTest {
  TrainProteins() {
    std::string sequences;
    for (int i = 0; i < 30; ++i) sequences += ">protein\nMKVLAGMKV\nLAGMKVLAG\n>another\nGGSGGSGGSGGSGGS\n";
    Write("train.fasta", sequences);
  }
  Outcome Train(const std::vector<std::string>& more) const {
    const std::string data = folder.File("train.fasta");
    std::vector<std::string> arguments = {
        "train", "masked-language-model", "--train", data, "--valid", data, "--preset", "esm2-8m",
        "--out", folder.File("esm")};
    for (const char* size : {"--layers", "2", "--model-dim", "32", "--heads", "4", "--batch-tokens", "256",
                             "--learning-rate", "0.01", "--warmup", "5", "--log-every", "1000"})
      arguments.emplace_back(size);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }
};

TEST_F(TrainProteins, AnEsmIsTrainedFromScratch) {
  const Outcome trained = Train({"--epochs", "30"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("60 texts, 1110 tokens"));
  EXPECT_THAT(trained.err, HasSubstr(", bits_per_mask "));
  const std::string esm = folder.File("esm"), train = folder.File("train.fasta");
  const Json config = ReadJson(esm + "/config.json").value();
  EXPECT_EQ(*config.Find("model_type"), Json("esm"));
  EXPECT_EQ(*config.Find("position_embedding_type"), Json("rotary"));
  EXPECT_EQ(*config.Find("vocab_size"), Json(33));
  // The sequences are periodic. Random letters would need more than 2 bits.
  const Outcome evaluated = RunProgram({"evaluate", esm, train, "--json"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_LT(*ParseJson(evaluated.out, "evaluate").Find("bits_per_mask")->As<double>(), 0.7) << evaluated.out;
  EXPECT_THAT(RunProgram({"fill-mask", esm, "--top-k", "1"}, "MKVLA<mask>MKVLAGMKV\n").out, HasSubstr("\tG\n"));
  // The variant A5W of the first sequence has a lower probability. In the second sequence, residue 5 is not A.
  const Outcome scored = RunProgram({"score", esm, train, "--variant", "A5W"});
  EXPECT_THAT(scored.err, HasSubstr("residue 5 is G,"));
  EXPECT_TRUE(scored.out.starts_with("-")) << scored.out;
  EXPECT_THAT(RefusalOf({"contacts", esm, train}), HasSubstr("the contact head was not trained"));
}

TEST_F(TrainProteins, ResumesTraining) {
  ASSERT_EQ(Train({"--epochs", "2", "--schedule", "inverse-square-root"}).exit_code, 0);
  const Outcome longer = Train({"--epochs", "3", "--schedule", "inverse-square-root", "--resume"});
  EXPECT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_THAT(longer.err, HasSubstr("resumed after step"));
}

TEST_F(TrainProteins, APresetIsOfAModelFromScratch) {
  const std::string esm = folder.File("other");
  EXPECT_THAT(Train({"--from", model}).err, HasSubstr("--from cannot be given"));
  EXPECT_THAT(Train({"--tokenizer", model}).err, HasSubstr("cannot be given with --preset"));
  EXPECT_THAT(Train({"--preset", "esm3"}).err, HasSubstr("--preset must be esm2-8m, "));
  EXPECT_THAT(Train({"--model-dim", "12"}).err, HasSubstr("odd"));  // rotary positions need an even head size
}

}  // namespace
}  // namespace headlight::train_proteins_test
