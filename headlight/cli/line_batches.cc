#include "headlight/cli/line_batches.h"

#include <fmt/format.h>
#include <unistd.h>

#include "headlight/cli/line_queue.h"
#include "headlight/cli/output.h"

namespace headlight {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 17;  // ahead: some batches of tokens

}  // namespace

void ForEachLineBatch(const std::string& path, const std::string& progress,
                      const std::function<void(const LineBatch&)>& body) {
  const std::string name = path == "-" ? "standard input" : path;
  LineQueue lines(path == "-" ? LineReader(STDIN_FILENO, name) : LineReader(name), kMostBytes);
  Progress shown("lines " + progress);
  std::int64_t first = 1;
  for (std::vector<std::string> next = lines.Next(); !next.empty(); next = lines.Next()) {
    const auto name_of = [name, first](std::size_t line) {
      return fmt::format("{}: line {}", name, first + static_cast<std::int64_t>(line));
    };
    const auto count = static_cast<std::int64_t>(next.size());
    body({std::move(next), first, name_of});
    first += count;
    FlushResults();
    shown.Show(first - 1);
  }
}

}  // namespace headlight
