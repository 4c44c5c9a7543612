#include "headlight/cli/evaluate_report.h"

#include <cmath>
#include <utility>

#include "headlight/cli/output.h"
#include "headlight/cli/training_progress.h"

namespace headlight {
namespace {

// A score's name in words.
std::string InWords(std::string name) {
  for (char& c : name)
    if (c == '_') c = ' ';
  if (name.ends_with("f1")) name[name.size() - 2] = 'F';
  return name;
}

}  // namespace

Json NumberOrNull(double number) {
  if (std::isfinite(number)) return number;
  return {};
}

void WriteEvaluated(const Evaluated& evaluated, bool json) {
  const ValidationReport& report = evaluated.report;
  if (json) {
    Json object = Json::Object{{"task", evaluated.task}, {report.score_name, report.score}};
    for (const auto& [name, value] : report.more_scores) object.Set(name, value);
    object.Set("loss", NumberOrNull(report.loss));
    object.Set(evaluated.units, evaluated.count);
    Json::Array classes;
    for (const ValidationReport::Class& one : report.classes)
      classes.push_back(Json::Object{{"label", one.name},
                                     {"precision", one.precision},
                                     {"recall", one.recall},
                                     {"f1", one.f1},
                                     {"count", one.count}});
    if (!classes.empty()) object.Set("classes", std::move(classes));
    for (const auto& [name, value] : evaluated.members) object.Set(name, value);
    return WriteResult(object.Line() + "\n");
  }
  std::string line =
      fmt::format("{} {:.{}f}", InWords(report.score_name), report.score, DigitsOfScore(report.score_name));
  for (const auto& [name, value] : report.more_scores)
    line += fmt::format(", {} {:.{}f}", InWords(name), value, DigitsOfScore(name));
  line += fmt::format(" of {} {}\nloss {:.4f} of {} {}\n", evaluated.count, InWords(evaluated.units), report.loss,
                      report.labels, evaluated.labels);
  for (const ValidationReport::Class& one : report.classes)
    line += fmt::format("{}: precision {:.2f}, recall {:.2f}, F1 {:.2f}, of {}\n", InRow(one.name), one.precision,
                        one.recall, one.f1, one.count);
  WriteResult(line + evaluated.lines);
}

}  // namespace headlight
