#include "headlight/recipes/evaluation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "headlight/image/decoding/decode.h"
#include "headlight/text/printable.h"

namespace headlight {
namespace {

// Returns the name of a score for printing.
std::string InWords(std::string name) {
  for (char& c : name)
    if (c == '_') c = ' ';
  if (name.ends_with("f1")) name[name.size() - 2] = 'F';
  return name;
}

Json ScoresOf(const Evaluated& evaluated) {
  const ValidationReport& report = evaluated.report;
  Json scores = Json::Object{{"task", evaluated.task}, {report.score_name, report.score}};
  for (const auto& [name, value] : report.more_scores) scores.Set(name, value);
  scores.Set("loss", NumberOrNull(report.loss));
  scores.Set(evaluated.units, evaluated.count);
  Json::Array classes;
  for (const ValidationReport::Class& one : report.classes)
    classes.push_back(Json::Object{{"label", one.name},
                                   {"precision", one.precision},
                                   {"recall", one.recall},
                                   {"f1", one.f1},
                                   {"count", one.count}});
  if (!classes.empty()) scores.Set("classes", std::move(classes));
  for (const auto& [name, value] : evaluated.members) scores.Set(name, value);
  return scores;
}

std::string TextOf(const Evaluated& evaluated) {
  const ValidationReport& report = evaluated.report;
  std::string text =
      fmt::format("{} {:.{}f}", InWords(report.score_name), report.score, DigitsOfScore(report.score_name));
  for (const auto& [name, value] : report.more_scores)
    text += fmt::format(", {} {:.{}f}", InWords(name), value, DigitsOfScore(name));
  text += fmt::format(" of {} {}\nloss {:.4f} of {} {}\n", evaluated.count, InWords(evaluated.units), report.loss,
                      report.labels, evaluated.labels);
  for (const ValidationReport::Class& one : report.classes)
    text += fmt::format("{}: precision {:.2f}, recall {:.2f}, F1 {:.2f}, of {}\n", InRow(one.name), one.precision,
                        one.recall, one.f1, one.count);
  return text + evaluated.lines;
}

}  // namespace

EvaluationResult ResultOf(const Evaluated& evaluated) { return {ScoresOf(evaluated), TextOf(evaluated)}; }

Json NumberOrNull(double number) {
  if (std::isfinite(number)) return number;
  return {};
}

int DigitsOfScore(std::string_view name) {
  constexpr std::array kNotPerCent = {"loss",          "lddt_ca", "tm_score", "contact_precision",
                                      "bits_per_mask", "pearson", "spearman"};
  return std::ranges::find(kNotPerCent, name) != kNotPerCent.end() ? 4 : 2;
}

void CheckLoss(const Model& model, double loss) {
  if (std::isnan(loss)) model.parameters().FailNotFinite("evaluating");
}

DecodeBytes DecoderOf(const Evaluation& options) {
  return [most_pixels = options.most_pixels.value_or(kMostPixels)](
             std::span<const std::byte> file, const std::string& name) { return DecodeImage(file, name, most_pixels); };
}

void Show(const EvaluationObserver& observer, const char* what, std::int64_t done, std::int64_t total) {
  if (observer.progress) observer.progress(what, done, total);
}

void Note(const EvaluationObserver& observer, const std::string& text) {
  if (observer.note) observer.note(text);
}

PassWatch Watch(const EvaluationObserver& observer, const char* what) {
  Show(observer, what);
  return {.progress = [&observer, what](std::int64_t done, std::int64_t all) { Show(observer, what, done, all); }};
}

}  // namespace headlight
