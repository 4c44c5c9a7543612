#include "headlight/nn/labels.h"

#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr std::int64_t kMostClasses = 1 << 20;

}  // namespace

std::vector<std::string> ReadLabels(const JsonView& config) {
  const JsonView names = config["id2label"];
  std::vector<std::string> labels;
  if (!names.present()) {
    const std::int64_t classes = config.Get("num_labels", 2).Integer(1, kMostClasses);
    for (std::int64_t i = 0; i < classes; ++i) labels.push_back("LABEL_" + std::to_string(i));
    return labels;
  }
  const std::vector<std::pair<std::string, JsonView>> members = names.Members();
  labels.resize(members.size());
  for (const auto& [id, label] : members) {
    std::size_t number = members.size();
    std::from_chars(id.data(), id.data() + id.size(), number);
    Check(number < members.size() && std::to_string(number) == id, "{}: {} classes are numbered 0 to {}",
          label.location(), members.size(), members.size() - 1);
    labels[number] = label.String();
  }
  Check(!labels.empty(), "{}: there must be at least one class", names.location());
  Check(config.Get("num_labels", labels.size()).Integer() == static_cast<std::int64_t>(labels.size()),
        "{}: there are {} labels", config["num_labels"].location(), labels.size());
  return labels;
}

void WriteLabels(Json& config, const std::vector<std::string>& labels) {
  if (labels.empty()) return;
  // In label2id, a repeated label maps to its last index. Detectors have the label "N/A" for each number that COCO
  // skips.
  std::map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < labels.size(); ++i) last[labels[i]] = i;
  Json::Object names, numbers;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    names.push_back({std::to_string(i), labels[i]});
    if (last.at(labels[i]) == i) numbers.push_back({labels[i], i});
  }
  config.Set("id2label", std::move(names));
  config.Set("label2id", std::move(numbers));
}

void CheckLabels(const std::vector<std::string>& labels) {
  Check(!labels.empty() && std::ssize(labels) <= kMostClasses, "there must be 1 to {} classes, not {}", kMostClasses,
        labels.size());
  Check(std::set(labels.begin(), labels.end()).size() == labels.size(), "two classes must not have the same label");
}

}  // namespace headlight
