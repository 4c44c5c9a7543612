#include "headlight/train/metrics.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

// Members of a validation line that are not scores. The perplexity is not a score because it is a function of the loss.
constexpr std::array<std::string_view, 5> kNoScores = {"step", "epoch", "validation_loss", "perplexity", "best"};

std::string PathIn(const std::string& folder) { return fmt::format("{}/metrics.jsonl", folder); }

// Calls body with each line as text and as JSON. An interrupted run can leave an incomplete last line, without a line
// break. This line is skipped.
void ForLines(const std::string& path, const std::function<void(std::string_view text, const JsonView& json)>& body) {
  const std::string text = ReadFile(path);
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    body(line, JsonView(ParseJson(line, path), path));
  }
}

// Returns a run's lines up to and including a step.
std::string LinesUpTo(const std::string& path, std::int64_t step) {
  std::string kept;
  if (!std::filesystem::exists(path)) return kept;
  ForLines(path, [&](std::string_view text, const JsonView& json) {
    if (json["step"].Integer() <= step) kept += fmt::format("{}\n", text);
  });
  return kept;
}

}  // namespace

Metrics::Metrics(const std::string& folder, std::int64_t step, const std::string& labels)
    : path_(PathIn(folder)), labels_(labels), events_(folder) {
  std::ranges::replace(labels_, ' ', '_');
  WriteFile(path_, LinesUpTo(path_, step));
  file_.open(path_, std::ios::app);
}

void Metrics::Add(const StepReport& report) {
  Write(Json::Object{{"step", report.step},
                     {"epoch", report.epoch},
                     {"loss", report.loss},
                     {"learning_rate", report.learning_rate},
                     {"gradient_norm", report.gradient_norm},
                     {labels_ + "_per_second", report.labels_per_second},
                     {labels_, report.labels},
                     {"seconds", report.seconds}});
  events_.AddScalar("train/loss", report.loss, report.step);
  events_.AddScalar("train/learning_rate", report.learning_rate, report.step);
  events_.AddScalar("train/gradient_norm", report.gradient_norm, report.step);
  events_.AddScalar("train/" + labels_ + "_per_second", report.labels_per_second, report.step);
}

void Metrics::Add(const ValidationReport& report) {
  Json line = Json::Object{{"step", report.step}, {"epoch", report.epoch}, {"validation_loss", report.loss}};
  events_.AddScalar("validation/loss", report.loss, report.step);
  const auto add = [&](const std::string& name, double value) {
    if (!std::isfinite(value)) return;  // JSON has no infinity; the perplexity of a large loss can be infinite
    line.Set(name, value);
    events_.AddScalar("validation/" + name, value, report.step);
  };
  if (report.perplexity > 0) add("perplexity", report.perplexity);
  if (!report.score_name.empty()) add(report.score_name, report.score);
  for (const auto& [name, value] : report.more_scores) add(name, value);
  line.Set("best", report.best);
  Write(line);
}

void Metrics::Write(const Json& line) {
  file_ << line.Line() << '\n' << std::flush;
  Check(file_.good(), "{}: cannot write: {}", path_, std::strerror(errno));
}

std::vector<std::string> ReadScoreNames(const std::string& folder) {
  std::vector<std::string> names;
  ForLines(PathIn(folder), [&](std::string_view, const JsonView& json) {
    if (!json["validation_loss"].present()) return;
    for (const auto& [name, value] : json.Object())
      if (std::ranges::find(kNoScores, name) == kNoScores.end() && std::ranges::find(names, name) == names.end())
        names.push_back(name);
  });
  return names;
}

MetricSeries ReadMetric(const std::string& folder, std::string_view name) {
  MetricSeries series;
  ForLines(PathIn(folder), [&](std::string_view, const JsonView& json) {
    if (!json[name].present()) return;
    const auto step = static_cast<double>(json["step"].Integer());
    // The validation of averaged snapshots has the step of the last regular validation and replaces it.
    while (!series.steps.empty() && series.steps.back() >= step) {
      series.steps.pop_back();
      series.values.pop_back();
    }
    series.steps.push_back(step);
    series.values.push_back(json[name].Number());
  });
  return series;
}

}  // namespace headlight
