#include "headlight/text/tokenizers/windows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {

std::vector<Window> SlidingWindows(const Encoding& encoding, std::int32_t text, std::int64_t longest,
                                   std::int64_t overlap) {
  // The tokens of a text are contiguous.
  const struct {
    std::int64_t begin, count;
  } run{std::ranges::find(encoding.texts, text) - encoding.texts.begin(), std::ranges::count(encoding.texts, text)};
  const std::int64_t room = longest - (std::ssize(encoding.ids) - run.count);
  Check(room >= 1, "the model reads {} tokens at once, but {} tokens are in every window of the text", longest,
        longest - room);
  const std::int64_t step = room - std::min(overlap, room - 1);
  std::vector<Window> windows;
  for (std::int64_t begin = 0;; begin += step) {
    const std::int64_t count = std::min(room, run.count - begin);
    Window window{{},
                  static_cast<std::int32_t>(run.begin + begin),
                  static_cast<std::int32_t>(run.begin),
                  static_cast<std::int32_t>(count)};
    const auto copy = [&](const auto& from, auto& to) {
      to.insert(to.end(), from.begin(), from.begin() + run.begin);
      to.insert(to.end(), from.begin() + run.begin + begin, from.begin() + run.begin + begin + count);
      to.insert(to.end(), from.begin() + run.begin + run.count, from.end());
    };
    copy(encoding.ids, window.encoding.ids);
    copy(encoding.type_ids, window.encoding.type_ids);
    copy(encoding.texts, window.encoding.texts);
    copy(encoding.spans, window.encoding.spans);
    copy(encoding.words, window.encoding.words);
    windows.push_back(std::move(window));
    if (begin + count >= run.count) return windows;
  }
}

std::vector<std::int32_t> WindowOfEachToken(const std::vector<Window>& windows) {
  const std::int32_t first = windows.front().begin, end = windows.back().begin + windows.back().count;
  std::vector<std::int32_t> window_of(static_cast<std::size_t>(end - first)), best(window_of.size(), -1);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    constexpr std::int32_t far = std::numeric_limits<std::int32_t>::max();
    for (std::int32_t token = 0; token < windows[i].count; ++token) {
      const std::int32_t from_edge =
          std::min(i == 0 ? far : token, i + 1 == windows.size() ? far : windows[i].count - 1 - token);
      const auto index = static_cast<std::size_t>(windows[i].begin - first + token);
      if (from_edge <= best[index]) continue;
      best[index] = from_edge;
      window_of[index] = static_cast<std::int32_t>(i);
    }
  }
  return window_of;
}

TextSpan WithoutSpaces(std::string_view text, TextSpan span) {
  const auto space = [&](std::int32_t byte) { return text[static_cast<std::size_t>(byte)] == ' '; };
  while (span.begin < span.end && space(span.begin)) ++span.begin;
  while (span.begin < span.end && space(span.end - 1)) --span.end;
  return span;
}

}  // namespace headlight
