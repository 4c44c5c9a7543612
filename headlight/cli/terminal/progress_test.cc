#include "headlight/cli/terminal/progress.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>

#include "headlight/base/error.h"
#include "headlight/cli/terminal/output.h"

namespace headlight::progress_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::EndsWith;

TEST(ProgressLine, SaysCountRateAndTime) {
  EXPECT_EQ(ProgressLine("converting", {}, 65.2), "converting, 1:05");
  EXPECT_EQ(ProgressLine("lines", {.done = 0}, 3), "lines: 0, 0:03");
  EXPECT_EQ(ProgressLine("lines", {.done = 300, .seconds = 10}, 12), "lines: 300, 30 per second, 0:12");
  EXPECT_EQ(ProgressLine("lines", {.done = 5, .seconds = 10}, 10), "lines: 5, 0.5 per second, 0:10");
  EXPECT_EQ(ProgressLine("pairs", {.done = 300, .total = 1200, .seconds = 10}, 10),
            "pairs: 300 of 1200, 30 per second, 0:30 left");
  EXPECT_EQ(ProgressLine("pairs", {.done = 300, .total = 1200, .seconds = 10}, 14),
            "pairs: 300 of 1200, 30 per second, 0:26 left");
  EXPECT_EQ(ProgressLine("pairs", {.done = 300, .total = 1200, .seconds = 10}, 90),
            "pairs: 300 of 1200, 30 per second, 0:00 left");
  EXPECT_EQ(ProgressLine("lines", {.done = 300, .share = 0.01, .seconds = 100}, 100),
            "lines: 300, 1%, 3.0 per second, 2:45:00 left");
}

struct ProgressTest : testing::Test {
  ProgressTest() {
    winsize size{.ws_row = 25, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
    Ensure(openpty(&screen, &terminal, nullptr, nullptr, &size) == 0, "no terminal");
  }
  ~ProgressTest() override {
    for (const int descriptor : {screen, terminal}) close(descriptor);
  }
  // Waits for at least `bytes` of output, and returns the output so far.
  std::string Drawn(std::size_t bytes = 0) const {
    std::string drawn;
    for (pollfd ready{screen, POLLIN, 0}; poll(&ready, 1, drawn.size() < bytes ? 10'000 : 0) > 0;) {
      char buffer[4096];
      const ssize_t size = read(screen, buffer, sizeof(buffer));
      if (size <= 0) break;
      drawn.append(buffer, static_cast<std::size_t>(size));
    }
    return drawn;
  }

  int screen = -1, terminal = -1;
};

TEST_F(ProgressTest, DrawsOnATerminalAndErasesAtTheEnd) {
  {
    Progress progress("lines", {terminal, milliseconds(0), milliseconds(1)});
    progress.Show(7, 9);
    std::string drawn;
    while (drawn.find("lines: 7 of 9") == std::string::npos) drawn += Drawn(1);
    EXPECT_THAT(drawn, testing::StartsWith("\r\x1b[Klines"));
  }
  EXPECT_THAT(Drawn(1), EndsWith("\r\x1b[K"));
}

TEST_F(ProgressTest, FitsIntoTheTerminal) {
  const Progress progress(std::string(100, 'x'), {terminal, milliseconds(0), hours(1)});
  EXPECT_EQ(Drawn(1), "\r\x1b[K" + std::string(39, 'x'));
}

TEST_F(ProgressTest, IsErasedForOtherOutput) {
  const Progress progress("lines", {terminal, milliseconds(0), hours(1)});
  EXPECT_EQ(Drawn(1), "\r\x1b[Klines, 0:00");
  HideProgress();
  EXPECT_EQ(Drawn(1), "\r\x1b[K");
  HideProgress();
  EXPECT_EQ(Drawn(), "");
}

TEST_F(ProgressTest, DrawsNothingBeforeItsTimeOrWhenQuiet) {
  {
    Progress progress("lines", {terminal, hours(1), hours(1)});
    progress.Show(7);
  }
  SetQuiet(true);
  { const Progress progress("lines", {terminal, milliseconds(0), milliseconds(1)}); }
  SetQuiet(false);
  EXPECT_EQ(Drawn(), "");
}

TEST(Progress, DrawsOnlyOnATerminal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  { const Progress progress("lines", {ends[1], milliseconds(0), milliseconds(1)}); }
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

}  // namespace
}  // namespace headlight::progress_test
