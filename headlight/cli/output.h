// What the program says: results on standard output, everything else on standard error.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace headlight {

// Whoever read the standard output has gone away: there is nothing left to do, and nobody to tell.
struct OutputClosed {};

// Writes results, which may stay in memory until FlushResults. Both throw Error where they cannot be written, as on a
// full disk, and OutputClosed.
void WriteResult(std::string_view text);
void FlushResults();

// Throws Error where no file can be written to `path`, which is better known before long work than after.
void CheckWritable(const std::string& path);

// Told to be quiet, the program says nothing but results and errors.
void SetQuiet(bool quiet);
bool Quiet();

void WriteNote(const std::string& line);

// A line about what goes on. Where standard error is gone, nothing happens.
template <typename... Args>
void Note(fmt::format_string<Args...> format, Args&&... args) {
  if (!Quiet()) WriteNote(fmt::format(format, std::forward<Args>(args)...));
}

// How far long work is, as one line that changes, where standard error is a terminal and standard output is not.
class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)) {}
  ~Progress();
  void Show(std::int64_t done, std::int64_t total = 0);  // total 0: not known

 private:
  std::string what_;
};

}  // namespace headlight
