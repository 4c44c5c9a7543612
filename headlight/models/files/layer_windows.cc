#include "headlight/models/files/layer_windows.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "headlight/base/error.h"

namespace headlight {
namespace {

std::int32_t ReadWindow(const JsonView& json, std::int32_t fallback) {
  const JsonView given = json.Get("sliding_window", fallback);
  const Json* const found = json.value().Find("sliding_window");
  if (found != nullptr && found->is_null()) return 0;
  const Json* const use = json.value().Find("use_sliding_window");
  const bool unused = use != nullptr && *use == Json(false);  // Transformers may then write 0 as the window
  return fallback == 0 && found == nullptr ? 0 : static_cast<std::int32_t>(given.Integer(unused ? 0 : 1, kLargestSize));
}

std::vector<bool> ReadLayerTypes(const JsonView& given, std::size_t layers) {
  std::vector<bool> sliding;
  for (const JsonView& type : given.Items()) {
    const std::string name = type.String();
    Check(name == kSlidingAttention || name == kFullAttention, "{}: '{}' is neither '{}' nor '{}'", type.location(),
          name, kSlidingAttention, kFullAttention);
    sliding.push_back(name == kSlidingAttention);
  }
  Check(sliding.size() == layers, "{}: {} types for {} layers", given.location(), sliding.size(), layers);
  return sliding;
}

}  // namespace

void DescribeWindow(ConfigTable& table, LayerWindows& windows, std::int32_t fallback) {
  if (table.reads()) windows.window = ReadWindow(table.json(), fallback);
  table.Note("sliding_window", windows.window > 0 ? Json(windows.window) : Json());
  table.Rule(windows.window >= 0 && windows.window <= kLargestSize && windows.sliding.empty(),
             "a window of {} tokens, which all layers have", windows.window);
}

void DescribeAlternatingWindows(ConfigTable& table, LayerWindows& windows, std::int32_t fallback,
                                const std::vector<bool>& slides) {
  if (table.reads()) {
    const JsonView types = table.json()["layer_types"];
    windows.window = ReadWindow(table.json(), fallback);
    windows.sliding = types.present() ? ReadLayerTypes(types, slides.size()) : slides;
    const bool any = std::ranges::count(windows.sliding, true) > 0;
    Check(!types.present() || !any || windows.window > 0, "{}: sliding layers need a sliding_window", types.location());
    if (windows.window == 0) windows = {};
  }
  if (table.writes()) {
    table.Note("sliding_window", windows.window > 0 ? Json(windows.window) : Json());
    Json::Array types;
    for (int layer = 0; layer < static_cast<int>(slides.size()); ++layer)
      types.push_back(windows.Of(layer) > 0 ? kSlidingAttention : kFullAttention);
    table.Note("layer_types", std::move(types));
  }
  table.Rule(windows.window >= 0 && windows.window <= kLargestSize, "a window of {} tokens", windows.window);
  table.Rule(windows.sliding.empty() || windows.sliding.size() == slides.size(), "{} types of windows for {} layers",
             windows.sliding.size(), slides.size());
}

void DescribeLayerWindows(ConfigTable& table, LayerWindows& windows, std::int32_t fallback,
                          const std::vector<bool>& slides) {
  bool used = windows.window > 0;
  table.Flag("use_sliding_window", used);
  const bool without = table.reads() && !used;
  DescribeAlternatingWindows(table, windows, fallback, without ? std::vector<bool>(slides.size()) : slides);
  if (!without) return;
  Check(std::ranges::count(windows.sliding, true) == 0, "{}: sliding layers need use_sliding_window",
        table.json()["layer_types"].location());
  windows = {};
}

}  // namespace headlight
