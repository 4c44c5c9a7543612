// Checks the progress line of the program, which appears after two seconds.
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/stat.h>

#include "headlight/cli/program/testing.h"

namespace headlight::progress_slow_test {
namespace {

// Checks the progress line while a training run waits for texts from a pipe.
TEST(ProgressOfProgram, ShowsThatATrainingIsPrepared) {
  int screen = -1, terminal = -1;
  ASSERT_EQ(openpty(&screen, &terminal, nullptr, nullptr, nullptr), 0);
  const TemporaryFolder folder;
  const std::string text = folder.File("text"), tokens = HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences";
  ASSERT_EQ(mkfifo(text.c_str(), 0600), 0);
  const int writer = open(text.c_str(), O_RDWR | O_CLOEXEC), nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  const pid_t process = StartProgram({"train", "masked-language-model", "--train", text, "--valid", text, "--tokenizer",
                                      tokens, "--out", folder.File("out")},
                                     nowhere, nowhere, terminal);
  std::string drawn;
  char byte = 0;
  for (pollfd ready{screen, POLLIN, 0}; poll(&ready, 1, 6000) > 0 && read(screen, &byte, 1) == 1;) {
    drawn += byte;
    if (drawn.ends_with("preparing the training, 0:02")) break;
  }
  EXPECT_THAT(drawn, testing::EndsWith("preparing the training, 0:02"));
  kill(process, SIGKILL);
  AwaitProgram(process);
  for (const int descriptor : {screen, terminal, nowhere, writer}) close(descriptor);
}

TEST(ProgressOfProgram, ComesAfterTwoSeconds) {
  int screen = -1, terminal = -1, to_program[2];
  ASSERT_EQ(openpty(&screen, &terminal, nullptr, nullptr, nullptr), 0);
  ASSERT_EQ(pipe2(to_program, O_CLOEXEC), 0);
  const std::string folder = HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences";
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const pid_t process = StartProgram({"embed", folder}, to_program[0], nowhere, terminal);
  ASSERT_EQ(write(to_program[1], "dog\ndog\n", 8), 8);
  std::string drawn;
  const auto draw_for = [&](int milliseconds) {
    for (pollfd ready{screen, POLLIN, 0}; poll(&ready, 1, milliseconds) > 0;) {
      char byte = 0;
      if (read(screen, &byte, 1) != 1) break;
      drawn += byte;
      if (drawn.ends_with("per second")) break;
    }
  };
  draw_for(1500);
  EXPECT_EQ(drawn, "");
  draw_for(5000);
  EXPECT_THAT(drawn, testing::HasSubstr("lines embedded: 2, "));
  for (const int end : {to_program[0], to_program[1]}) close(end);
  EXPECT_EQ(AwaitProgram(process), 0);
  drawn.clear();
  draw_for(100);
  EXPECT_THAT(drawn, testing::EndsWith("\r\x1b[K"));
  for (const int descriptor : {screen, terminal, nowhere}) close(descriptor);
}

}  // namespace
}  // namespace headlight::progress_slow_test
