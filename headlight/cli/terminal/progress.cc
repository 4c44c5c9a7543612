#include "headlight/cli/terminal/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "headlight/cli/terminal/quiet.h"

namespace headlight {
namespace {

std::mutex terminal_mutex;
int drawn_on = -1;  // the descriptor of the terminal that shows the progress line; -1: none

// Writes text to the terminal. Ignores errors, since the terminal may have been closed.
void WriteTo(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::size_t Columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79;
}

}  // namespace

std::string Clock(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9) + 0.5);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string ProgressLine(const std::string& what, const ProgressState& state, double seconds) {
  std::string line = what;
  if (state.done >= 0) line += fmt::format(": {}", state.done);
  if (state.total > 0) line += fmt::format(" of {}", state.total);
  double share = state.share;
  if (state.total > 0) share = static_cast<double>(state.done) / static_cast<double>(state.total);
  if (state.total == 0 && share >= 0) line += fmt::format(", {:.0f}%", 100 * std::min(share, 1.0));
  if (state.done > 0 && state.seconds > 0) {
    const double rate = static_cast<double>(state.done) / state.seconds;
    line += rate < 10 ? fmt::format(", {:.1f} per second", rate) : fmt::format(", {:.0f} per second", rate);
  }
  // The estimate accounts for the time since the state was reported.
  if (share > 0 && share <= 1)
    return fmt::format("{}, {} left", line, Clock(state.seconds / share - std::max(seconds, state.seconds)));
  return fmt::format("{}, {}", line, Clock(seconds));
}

Progress::Progress(std::string what, ProgressTerminal terminal)
    : what_(std::move(what)), terminal_(terminal), begin_(std::chrono::steady_clock::now()) {
  if (Quiet() || isatty(terminal_.descriptor) == 0) return;
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    for (auto wait = terminal_.first; !stop_.wait_for(lock, wait, [this] { return stopping_; });
         wait = terminal_.interval)
      Draw();
  });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
  HideProgress();
}

void Progress::Show(std::int64_t done, std::int64_t total) { Set({.done = done, .total = total}); }
void Progress::ShowShare(std::int64_t done, double share) { Set({.done = done, .share = share}); }

void Progress::Set(const ProgressState& state) {
  if (!thread_.joinable()) return;
  const std::lock_guard lock(mutex_);
  state_ = state;
  state_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void Progress::Draw() {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  std::string line = ProgressLine(what_, state_, seconds);
  line.resize(std::min(line.size(), Columns(terminal_.descriptor)));  // a line that wraps could not be erased
  const std::lock_guard lock(terminal_mutex);
  WriteTo(terminal_.descriptor, "\r\x1b[K" + line);
  drawn_on = terminal_.descriptor;
}

std::unique_lock<std::mutex> HideProgress() {
  std::unique_lock lock(terminal_mutex);
  if (const int descriptor = std::exchange(drawn_on, -1); descriptor >= 0) WriteTo(descriptor, "\r\x1b[K");
  return lock;
}

}  // namespace headlight
