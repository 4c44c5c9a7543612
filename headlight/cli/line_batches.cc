#include "headlight/cli/line_batches.h"

#include <fmt/format.h>
#include <unistd.h>

#include "headlight/cli/line_queue.h"
#include "headlight/cli/output.h"

namespace headlight {

void ForEachLineBatch(const std::string& path, const std::string& progress, std::size_t bytes_ahead,
                      const std::function<void(const LineBatch&)>& body) {
  const std::string name = path == "-" ? "standard input" : path;
  LineQueue lines(path == "-" ? LineReader(STDIN_FILENO, name) : LineReader(name), bytes_ahead);
  Progress shown(progress);
  std::int64_t first = 1;
  for (std::vector<std::string> next = lines.Next(); !next.empty(); next = lines.Next()) {
    const auto name_of = [&name, first](std::size_t line) {
      return fmt::format("{}: line {}", name, first + static_cast<std::int64_t>(line));
    };
    const auto count = static_cast<std::int64_t>(next.size());
    body({std::move(next), first, name, name_of});
    first += count;
    FlushResults();
    shown.Show(first - 1);
  }
}

}  // namespace headlight
