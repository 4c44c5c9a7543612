#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/cli/program/testing.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/testing.h"

namespace headlight::train_sequences_test {
namespace {

using testing::HasSubstr;

// Small texts and pairs, and a tokenizer with the special tokens that the model families need.
struct Setting {
  TemporaryFolder folder;
  std::string texts = folder.File("texts"), pairs = folder.File("pairs.jsonl"), tokens = folder.File("tokens");

  Setting() {
    std::string lines, objects;
    for (int i = 0; i < 12; ++i) {
      lines += "the dog runs. a man plays\n\nthe man and the dog play.\n";
      objects += "{\"source\": \"the dog runs\", \"target\": \"it runs\"}\n";
    }
    WriteFile(texts, lines);
    WriteFile(pairs, objects);
    const Outcome made =
        RunProgram({"train", "tokenizer", "--byte-level", "--vocabulary-size", "300", "--special", "<pad>", "--special",
                    "</s>", "--special", "<mask>", "--sentinels", "8", "--out", tokens, texts});
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }

  Outcome Train(const char* task, const std::string& data, std::vector<std::string> more) const {
    std::vector<std::string> arguments = {
        "train",    task, "--train",  data, "--valid",        data, "--out", folder.File("model"),
        "--epochs", "2",  "--warmup", "2",  "--batch-tokens", "64"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }
  std::vector<std::string> Small(std::vector<std::string> more = {}, const char* heads = "2") const {
    for (const char* size : {"--layers", "1", "--model-dim", "16", "--heads", heads}) more.emplace_back(size);
    more.insert(more.end(), {"--tokenizer", tokens});
    return more;
  }
};

TEST(TrainSequences, AT5IsPretrainedAndFineTuned) {
  const Setting setting;
  const Outcome spans = setting.Train("span-corruption", setting.texts, setting.Small());
  EXPECT_EQ(spans.exit_code, 0) << spans.err;
  EXPECT_THAT(spans.err, HasSubstr("24 texts"));
  const std::string pretrained = setting.folder.File("pretrained");
  std::filesystem::rename(setting.folder.File("model"), pretrained);
  const Outcome further = setting.Train("seq2seq", setting.pairs, {"--from", pretrained, "--prefix", "shorten: "});
  EXPECT_EQ(further.exit_code, 0) << further.err;
  EXPECT_THAT(further.err, HasSubstr("exact"));
  EXPECT_THAT(further.err, HasSubstr("shorten: the dog runs"));
  const Outcome written = RunProgram(
      {"summarize", setting.folder.File("model"), "--prefix", "shorten: ", "--max-length", "4"}, "the dog runs\n");
  EXPECT_EQ(written.exit_code, 0) << written.err;
}

TEST(TrainSequences, ABartIsTrainedAndResumed) {
  const Setting setting;
  const Outcome noise = setting.Train("denoising", setting.texts, setting.Small({"--positions", "32"}));
  EXPECT_EQ(noise.exit_code, 0) << noise.err;
  const Outcome more = setting.Train("denoising", setting.texts, setting.Small({"--positions", "32", "--resume"}));
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_THAT(more.err, HasSubstr("this training has ended"));
  EXPECT_THAT(
      setting.Train("denoising", setting.texts, setting.Small({"--positions", "32", "--resume", "--mask-share", "0.5"}))
          .err,
      HasSubstr("--mask-share"));
  EXPECT_EQ(LoadModel<EncoderDecoder>(setting.folder.File("model"))->limits().positions, 32);
  const Outcome pairs = RunProgram({"train", "seq2seq", "--train", setting.pairs, "--valid", setting.pairs, "--from",
                                    setting.folder.File("model"), "--out", setting.folder.File("further"), "--steps",
                                    "4", "--warmup", "2"});
  EXPECT_EQ(pairs.exit_code, 0) << pairs.err;
  // With --from, --positions sets the length of text pieces. Options for the size of a new model are rejected.
  const auto goes_on = [&](const char* task, const std::string& data, const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"--from", setting.folder.File("further")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    std::filesystem::remove_all(setting.folder.File("model"));
    return setting.Train(task, data, arguments);
  };
  EXPECT_EQ(goes_on("denoising", setting.texts, {"--positions", "16"}).exit_code, 0);
  EXPECT_THAT(goes_on("seq2seq", setting.pairs, {"--positions", "16"}).err, HasSubstr("--from cannot be given"));
  EXPECT_THAT(goes_on("seq2seq", setting.pairs, {"--layers", "2"}).err, HasSubstr("--from cannot be given"));
}

TEST(TrainSequences, ATranslatorIsSelectedByBleu) {
  const Setting setting;
  const std::string marian = setting.folder.File("marian");
  std::filesystem::create_directory(marian);
  SaveTinyModel(marian);
  const Outcome tuned = setting.Train("seq2seq", setting.pairs, {"--from", marian, "--validate-metric", "bleu"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("(BLEU "));
  EXPECT_THAT(tuned.err, HasSubstr(": headlight translate " + setting.folder.File("model")));
}

TEST(TrainSequences, SaysWhatIsWrongBeforeItBegins) {
  const Setting setting;
  const auto refused = [&](const char* task, const std::string& data, std::vector<std::string> more) {
    const Outcome outcome = setting.Train(task, data, std::move(more));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(setting.folder.File("model")));
    return outcome.err;
  };
  EXPECT_THAT(refused("seq2seq", setting.pairs, {}), HasSubstr("--tokenizer"));
  EXPECT_THAT(refused("seq2seq", setting.texts, setting.Small()), HasSubstr("texts:1: expected a source, a"));
  EXPECT_THAT(refused("seq2seq", setting.pairs, setting.Small({}, "3")), HasSubstr("heads"));
  EXPECT_THAT(refused("denoising", setting.texts, setting.Small({"--mask-share", "1"})), HasSubstr("hidden tokens"));
  EXPECT_THAT(refused("span-corruption", setting.texts, setting.Small({"--positions", "1"})), HasSubstr("--positions"));
  std::filesystem::copy_file(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_gpt2.json",
                             setting.tokens + "/tokenizer.json", std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(setting.tokens + "/tokenizer_config.json");  // removes the declarations of the special tokens
  EXPECT_THAT(refused("span-corruption", setting.texts, setting.Small()), HasSubstr("<pad>"));
}

}  // namespace
}  // namespace headlight::train_sequences_test
