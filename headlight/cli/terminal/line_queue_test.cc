#include "headlight/cli/terminal/line_queue.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <thread>

#include "headlight/base/error.h"
#include "headlight/base/test_support.h"

namespace headlight::line_queue_test {
namespace {

struct LineQueueTest : testing::Test {
  LineQueueTest() { Ensure(pipe(ends) == 0, "no pipe"); }
  ~LineQueueTest() override {
    for (const int end : ends) close(end);
  }
  void Type(std::string_view text) const {
    EXPECT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void End() {
    close(ends[1]);
    ends[1] = -1;
  }
  LineQueue Queue(std::size_t most_bytes) const { return {TextReader(LineReader(ends[0], "pipe")), most_bytes}; }

  int ends[2] = {};
};

TEST_F(LineQueueTest, ReturnsAllLinesInOrder) {
  constexpr int kLines = 500;
  std::thread writer([this] {
    for (int i = 0; i < kLines; ++i) Type(std::to_string(i) + "\n");
    End();
  });
  LineQueue queue = Queue(16);
  int next = 0;
  for (std::vector<std::string> lines; !(lines = queue.Next().lines).empty();)
    for (const std::string& line : lines) EXPECT_EQ(line, std::to_string(next++));
  EXPECT_EQ(next, kLines);
  writer.join();
}

TEST_F(LineQueueTest, GivesALineBeforeTheNextIsTyped) {
  LineQueue queue = Queue(1000);
  for (const std::string line : {"one", "two", "three"}) {
    Type(line + "\n");
    EXPECT_THAT(queue.Next().lines, testing::ElementsAre(line));
  }
  End();
  EXPECT_THAT(queue.Next().lines, testing::IsEmpty());
}

TEST_F(LineQueueTest, ThrowsAfterTheLinesBeforeTheError) {
  Type("one\n\xff\n");
  LineQueue queue = Queue(1000);
  EXPECT_THAT(queue.Next().lines, testing::ElementsAre("one"));
  EXPECT_THAT(ErrorOf([&] { queue.Next(); }), testing::HasSubstr("pipe: line 2"));
}

TEST_F(LineQueueTest, ReturnsErrorsInPlaceOfLines) {
  Type("one\n\xff\nthree\n");
  End();
  LineQueue queue(TextReader(LineReader(ends[0], "pipe")), 1000, /*keep_errors=*/true);
  std::vector<std::string> lines, errors;
  for (QueuedLines next; !(next = queue.Next()).lines.empty();) {
    next.errors.resize(next.lines.size());
    lines.insert(lines.end(), next.lines.begin(), next.lines.end());
    errors.insert(errors.end(), next.errors.begin(), next.errors.end());
  }
  EXPECT_THAT(lines, testing::ElementsAre("one", "", "three"));
  EXPECT_THAT(errors, testing::ElementsAre("", "pipe: line 2: byte 0 is not UTF-8", ""));
}

TEST_F(LineQueueTest, MayBeDestroyedWhileItsThreadWaits) {
  Type("one\ntwo\nthree\n");
  LineQueue queue = Queue(1);
  EXPECT_EQ(queue.Next().lines.front(), "one");
}

}  // namespace
}  // namespace headlight::line_queue_test
