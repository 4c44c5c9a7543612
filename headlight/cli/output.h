// The program's output: results on standard output, everything else on standard error.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace headlight {

// Thrown when the reader of standard output has closed it: the program ends without a message.
struct OutputClosed {};

// Writes results, buffered until FlushResults. Both throw Error where writing fails, as on a full disk, and
// OutputClosed.
void WriteResult(std::string_view text);
void FlushResults();

// Throws Error where a file cannot be written to `path`. For use before long work.
void CheckWritable(const std::string& path);

// When quiet, the program prints only results and errors.
void SetQuiet(bool quiet);
bool Quiet();

void WriteNote(const std::string& line);

// Prints a line of information, unless quiet. Failures to write it are ignored.
template <typename... Args>
void Note(fmt::format_string<Args...> format, Args&&... args) {
  if (!Quiet()) WriteNote(fmt::format(format, std::forward<Args>(args)...));
}

// A progress line, shown where standard error is a terminal and standard output is not.
class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)) {}
  ~Progress();
  void Show(std::int64_t done, std::int64_t total = 0);  // total 0: unknown

 private:
  std::string what_;
};

}  // namespace headlight
