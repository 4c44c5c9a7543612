// Tests commands on weights that contain NaN, for example after a training run diverged or a disk was damaged.
#include <gmock/gmock.h>

#include "headlight/cli/program/testing.h"
#include "headlight/pipelines/drawing_testing.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/protein_testing.h"

namespace headlight::damaged_weights_test {
namespace {

using testing::HasSubstr;

TEST(DamagedWeights, AreRefusedByEveryCommandWithTheModelAndTheStep) {
  struct Case {
    std::string folder;  // path in the repository, or the name of a tiny model
    std::vector<std::string> command;
    std::string input, step;
  };
  const std::string encoders = HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/";
  const std::string captions = HEADLIGHT_SOURCE_DIR "/tests/testdata/captions/";
  const std::string image = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png";
  const TemporaryFolder texts;
  WriteFile(texts.File("source"), "Ein Hund.\n");
  WriteFile(texts.File("target"), "A dog.\n");
  WriteFile(texts.File("words"), "A small dog runs.\nA dog runs.\nA small dog.\n");
  const std::vector<Case> cases = {
      {"marian", {"translate"}, "Ein Hund.\n", "decoding step 1"},
      {"marian", {"translate", "--beam-size", "1"}, "Ein Hund.\n", "decoding step 1"},
      {"marian", {"translate", "--beam-size", "1", "--draft"}, "Ein Hund.\n", "decoding step 1"},
      {"marian", {"summarize"}, "Ein Hund.\n", "decoding step 1"},
      {"marian", {"evaluate", texts.File("source"), "--reference", texts.File("target")}, "", "decoding step 1"},
      {"gpt", {"generate"}, "A dog\n", "decoding step 1"},
      {"gpt", {"generate", "--beam-size", "3"}, "A dog\n", "decoding step 1"},
      {"gpt", {"generate", "--top-k", "5", "--top-p", "0.5"}, "A dog\n", "decoding step 1"},
      {"gpt", {"score"}, "A dog\n", "scoring token 1"},
      {"dalle", {"draw", "A dog", "--json"}, "", "decoding step 1"},
      {HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences",
       {"embed"},
       "Two dogs.\n",
       "embedding standard input: line 1"},
      {"clip", {"embed"}, "Two dogs.\n", "embedding standard input: line 1"},
      {"clip",
       {"embed", HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png"},
       "",
       "embedding " HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png"},
      {encoders + "classify", {"classify"}, "A small dog runs.\n", "classifying standard input: line 1"},
      {encoders + "tag", {"tag"}, "dog\n", "tagging standard input: line 1"},
      {encoders + "answer", {"answer"}, "dogs?\tTwo men, two dogs.\n", "answering standard input: line 1"},
      {"marian", {"convert", "--out", texts.File("int8"), "--compute", "int8"}, "", "converting"},
      {encoders + "fill_mask", {"evaluate", texts.File("words")}, "", "evaluating"},
      {captions + "vit_gpt2_text", {"caption", image}, "", "decoding step 1"},
      {captions + "blip_text", {"caption", image, "--beam-size", "3"}, "", "decoding step 1"},
      {captions + "blip_text", {"caption", image, "--top-k", "3"}, "", "decoding step 1"},
      {captions + "blip_answers_text", {"answer", "--image", image, "--question", "Two men?"}, "", "decoding step 1"},
      {"esm", {"contacts"}, ">a\nMKVLA\n", "the contacts of standard input: line 1"},
      {"esm", {"score", "--variant", "K2R"}, ">a\nMKVLA\n", "scoring standard input: line 1"},
      {encoders + "fill_mask", {"fill-mask"}, "A small <mask> runs.\n", "filling standard input: line 1"},
      {HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/model",
       {"fold", "--sequence", "MKV", "--out", texts.File("a.cif")},
       "",
       "pass 1"},
  };
  for (const Case& one : cases) {
    const TemporaryFolder folder;
    if (one.folder == "marian")
      SaveTinyModel(folder.path());
    else if (one.folder == "gpt")
      SaveTinyGpt(folder.path());
    else if (one.folder == "clip")
      SaveTinyClip(folder.path());
    else if (one.folder == "esm")
      SaveTinyEsm(folder.path());
    else if (one.folder == "dalle")
      SaveTinyDalle(folder.path());
    else
      std::filesystem::copy(one.folder, folder.path(), std::filesystem::copy_options::recursive);
    DamageWeights(folder.path());
    std::vector<std::string> command = one.command;
    command.insert(command.begin() + 1, folder.path());
    EXPECT_THAT(RefusalOf(command, one.input), HasSubstr(folder.File("model.safetensors") + ": " + one.step + ": "))
        << one.command.front();
  }
}

}  // namespace
}  // namespace headlight::damaged_weights_test
