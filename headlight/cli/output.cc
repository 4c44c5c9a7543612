#include "headlight/cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight {
namespace {

bool quiet = false;
bool line_is_open = false;  // the progress line has no end yet

[[noreturn]] void FailToWrite() {
  if (errno == EPIPE) throw OutputClosed();
  Fail("standard output: cannot write: {}", std::strerror(errno));
}

}  // namespace

void WriteResult(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) FailToWrite();
}

void FlushResults() {
  if (std::fflush(stdout) != 0) FailToWrite();
}

void CheckWritable(const std::string& path) {
  const AtomicFile probe(path);  // without Commit an existing file stays as it is
}

void SetQuiet(bool value) { quiet = value; }
bool Quiet() { return quiet; }

void WriteNote(const std::string& line) {
  const char* clear = std::exchange(line_is_open, false) ? "\r\x1b[K" : "";
  std::fprintf(stderr, "%s%s\n", clear, line.c_str());
}

void Progress::Show(std::int64_t done, std::int64_t total) {
  if (Quiet() || isatty(STDERR_FILENO) == 0 || isatty(STDOUT_FILENO) != 0) return;
  line_is_open = true;
  const std::string of = total == 0 ? "" : fmt::format(" of {}", total);
  std::fprintf(stderr, "\r%s: %lld%s", what_.c_str(), static_cast<long long>(done), of.c_str());
}

Progress::~Progress() {
  if (std::exchange(line_is_open, false)) std::fputc('\n', stderr);
}

}  // namespace headlight
