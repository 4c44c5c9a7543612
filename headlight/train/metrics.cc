#include "headlight/train/metrics.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/data/lines.h"

namespace headlight {
namespace {

std::string PathIn(const std::string& folder) { return fmt::format("{}/metrics.jsonl", folder); }

// The lines of a run up to a step.
std::string LinesUpTo(const std::string& path, std::int64_t step) {
  std::string kept;
  if (!std::filesystem::exists(path)) return kept;
  LineReader lines(path);
  while (const auto line = lines.Next()) {
    const JsonView json(ParseJson(*line, path), path);
    if (json["step"].Integer() <= step) kept += fmt::format("{}\n", *line);
  }
  return kept;
}

}  // namespace

Metrics::Metrics(const std::string& folder, std::int64_t step) : path_(PathIn(folder)), events_(folder) {
  WriteFile(path_, LinesUpTo(path_, step));
  file_.open(path_, std::ios::app);
}

void Metrics::Add(const StepReport& report) {
  Write(Json::Object{{"step", report.step},
                     {"epoch", report.epoch},
                     {"loss", report.loss},
                     {"learning_rate", report.learning_rate},
                     {"gradient_norm", report.gradient_norm},
                     {"target_tokens_per_second", report.tokens_per_second},
                     {"target_tokens", report.target_tokens},
                     {"seconds", report.seconds}});
  events_.AddScalar("train/loss", report.loss, report.step);
  events_.AddScalar("train/learning_rate", report.learning_rate, report.step);
  events_.AddScalar("train/gradient_norm", report.gradient_norm, report.step);
  events_.AddScalar("train/target_tokens_per_second", report.tokens_per_second, report.step);
}

void Metrics::Add(const ValidationReport& report) {
  Json line = Json::Object{{"step", report.step},
                           {"epoch", report.epoch},
                           {"validation_loss", report.loss},
                           {"perplexity", report.perplexity}};
  if (!report.score_name.empty()) line.Set(report.score_name, report.score);
  for (const auto& [name, value] : report.more_scores) line.Set(name, value);
  if (report.bits_per_byte > 0) line.Set("bits_per_byte", report.bits_per_byte);
  line.Set("best", report.best);
  Write(line);
  events_.AddScalar("validation/loss", report.loss, report.step);
  events_.AddScalar("validation/perplexity", report.perplexity, report.step);
  if (!report.score_name.empty()) events_.AddScalar("validation/" + report.score_name, report.score, report.step);
}

void Metrics::Write(const Json& line) {
  file_ << line.Line() << '\n' << std::flush;
  Check(file_.good(), "{}: cannot write: {}", path_, std::strerror(errno));
}

MetricSeries ReadMetric(const std::string& folder, std::string_view name) {
  MetricSeries series;
  const std::string path = PathIn(folder);
  LineReader lines(path);
  while (const auto line = lines.Next()) {
    const JsonView json(ParseJson(*line, path), path);
    if (!json[name].present()) continue;
    const auto step = static_cast<double>(json["step"].Integer());
    if (!series.steps.empty() && series.steps.back() >= step) {  // the mean of snapshots has the last one's step
      series.steps.pop_back();
      series.values.pop_back();
    }
    series.steps.push_back(step);
    series.values.push_back(json[name].Number());
  }
  return series;
}

}  // namespace headlight
