#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <new>

#include "headlight/cli/program/program.h"
#include "headlight/cli/program/testing.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/train/training_command.h"
#include "headlight/pipelines/protein_testing.h"

namespace headlight::exit_codes_test {
namespace {

const std::string kCaptions = HEADLIGHT_SOURCE_DIR "/tests/testdata/captions/vit_gpt2_text";
const std::string kImage = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png";
const std::string kFolding = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/model";

struct ExitCodes : ProgramTest {};

TEST_F(ExitCodes, DistinguishSuccessAndMistakes) {
  const std::string text = Write("text", "Hund\n"), bad = Write("bad", "H\xff\n"), nowhere = folder.File("no/such");
  const std::string esm = folder.File("esm"), fasta = Write("a.fasta", ">a\nMKVLA\n");
  SaveTinyEsm(esm);
  const std::string structure = Write("a.pdb", StrandAsPdb());
  const struct {
    int code;
    std::vector<std::string> arguments;
  } cases[] = {{0, {"--help"}},
               {0, {"--version"}},
               {0, {"help", "train", "translation"}},
               {0, {"info", model}},
               {0, {"translate", model, text}},
               {0, {"translate", model, bad, "--skip-errors"}},
               {0, {}},
               {0, {"version"}},
               {2, {"no-command"}},
               {0, {"train"}},
               {2, {"translate", model, "--no-option"}},
               {2, {"translate", model, "--beam-size", "0"}},
               {2, {"translate", model, nowhere}},
               {2, {"translate", model, bad}},
               {2, {"translate", nowhere}},
               {2, {"translate", text}},
               {2, {"embed", model, text}},
               {2, {"draw", model, "Hund", "--out", nowhere + ".png"}},
               {2, {"look", model, "--source", "Hund", "--out", nowhere + ".svg"}},
               {0, {"caption", kCaptions, kImage}},
               {0, {"caption", kCaptions, kImage, text, "--skip-errors"}},
               {2, {"caption", kCaptions, text}},
               {2, {"caption", kCaptions, nowhere}},
               {2, {"caption", model, kImage}},
               {2, {"train", "captions", "--train", text, "--valid", text, "--out", nowhere}},
               {2, {"train", "folding", "--train", text, "--valid", text, "--out", nowhere}},
               {0, {"compare", structure, structure}},
               {2, {"compare", structure, text}},
               {2, {"compare", structure, structure, "--plot", folder.File("neither/this.svg")}},
               {0, {"contacts", esm, fasta}},
               {2, {"contacts", esm, text}},
               {2, {"contacts", model, fasta}},
               {0, {"score", esm, fasta, "--variant", "K2R"}},
               {2, {"score", esm, fasta, "--variant", "K3R"}},
               {2,
                {"train", "masked-language-model", "--preset", "esm2-8m", "--train", nowhere, "--valid", nowhere,
                 "--out", nowhere}},
               {2, {"fold", model, "--sequence", "MK", "--out", nowhere + ".cif"}},
               {2, {"fold", kFolding, "--sequence", "MK", "--out", nowhere + ".txt"}},
               {0, {"fold", kFolding, "--sequence", "MK", "--recycles", "0", "--out", folder.File("a.cif")}},
               {2, {"help", "--manual", text}}};
  for (const auto& [code, arguments] : cases) {
    const Outcome outcome = RunProgram(arguments);
    EXPECT_EQ(outcome.exit_code, code) << testing::PrintToString(arguments) << outcome.err;
  }
}

// Checks the exit codes listed in the table of `headlight --help`.
TEST_F(ExitCodes, FollowFromWhatEndedTheProgram) {
  const auto program = MakeProgram();
  const auto code_of = [&](const auto& end) { return ExitCodeOf(*program, std::make_exception_ptr(end)); };
  EXPECT_EQ(code_of(Error("a broken invariant", ErrorCause::internal)), 1);
  EXPECT_EQ(code_of(std::logic_error("anything unforeseen")), 1);
  EXPECT_EQ(code_of(Error("a bad file")), 2);
  EXPECT_EQ(code_of(std::bad_alloc()), 2);
  EXPECT_EQ(code_of(std::filesystem::filesystem_error("a", "b", std::make_error_code(std::errc::io_error))), 2);
  EXPECT_EQ(code_of(OutputClosed()), 128 + SIGPIPE);
  EXPECT_EQ(code_of(EndedBySignal{SIGINT}), 128 + SIGINT);
  EXPECT_EQ(code_of(EndedBySignal{SIGTERM}), 128 + SIGTERM);
}

}  // namespace
}  // namespace headlight::exit_codes_test
