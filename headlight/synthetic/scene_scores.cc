#include "headlight/synthetic/scene_scores.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "headlight/base/error.h"
#include "headlight/data/records.h"

namespace headlight {
namespace {

// Returns the number at the beginning of an image's file name, up to a hyphen.
std::int64_t NumberOf(const std::string& image, const JsonView& record) {
  const std::string stem = std::filesystem::path(image).stem().string();
  const std::string digits = stem.substr(0, stem.find('-'));
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  Check(problem == std::errc() && end == digits.data() + digits.size() && number >= 0,
        "{}: '{}' does not begin with the number of a scene", record.location(), image);
  return number;
}

// Maps each class name, such as "red circle", to its SceneShape::label.
std::map<std::string, std::int32_t> LabelNumbers() {
  std::map<std::string, std::int32_t> numbers;
  for (std::int32_t color = 0; color < kSceneColors; ++color)
    for (std::int32_t kind = 0; kind < kSceneKinds; ++kind)
      numbers[ColorWord(color, SceneLanguage::english) + " " + KindWord(kind, SceneLanguage::english)] =
          SceneShape{.kind = kind, .color = color}.label();
  return numbers;
}

// Returns true if all statements are counts, or name the size, color, kind and position of a shape.
bool NamesAll(const SceneCaption& caption) {
  return std::ranges::all_of(caption, [](const SceneStatement& one) {
    return !one.relation && one.subject.size && one.subject.color && one.subject.kind && one.subject.place;
  });
}

}  // namespace

void Score(const std::string& caption, SceneLanguage language, const SceneContent& scene, SceneScores& scores) {
  ++scores.texts;
  SceneCaption parsed;
  try {
    parsed = ParseCaption(caption, language);
  } catch (const Error&) {
    return;
  }
  ++scores.understood;
  scores.right += IsTrue(parsed, scene);
  scores.statements += std::ssize(parsed);
  for (const SceneStatement& statement : parsed) scores.true_statements += IsTrue({statement}, scene);
}

SceneScores ScoreCaptions(const std::string& path, std::uint64_t seed, Portion portion, SceneLanguage language,
                          const ShapeSceneOptions& options) {
  SceneScores scores;
  Records records(path);
  while (const auto record = records.Next()) {
    const auto number = static_cast<std::uint64_t>(NumberOf((*record)["image"].String(), *record));
    Score((*record)["text"].String(), language, DrawShapeScene(seed, number, portion, options), scores);
  }
  return scores;
}

SceneScores ScoreDrawings(const std::string& path, const std::vector<std::string>& texts, SceneLanguage language,
                          double side) {
  const std::map<std::string, std::int32_t> labels = LabelNumbers();
  SceneScores scores;
  Records records(path);
  while (const auto record = records.Next()) {
    const std::int64_t number = NumberOf((*record)["image"].String(), *record);
    Check(number >= 1 && number <= std::ssize(texts), "{}: an image is of text {}, but there are {}",
          record->location(), number, texts.size());
    std::vector<LabeledBox> boxes;
    for (const JsonView& found : (*record)["boxes"].Items()) {
      const auto label = labels.find(found["label"].String());
      Check(label != labels.end(), "{}: '{}' is not a shape with a colour", record->location(),
            found["label"].String());
      const std::vector<JsonView> sides = found["box"].Items();
      Check(sides.size() == 4, "{}: a box has 4 numbers, not {}", record->location(), sides.size());
      boxes.push_back({.box = {sides[0].Number(), sides[1].Number(), sides[2].Number(), sides[3].Number()},
                       .label = label->second});
    }
    const std::string& text = texts[static_cast<std::size_t>(number) - 1];
    const SceneCaption wanted = ParseCaption(text, language);
    SceneContent found = ContentOfBoxes(boxes, side);
    // An image with too many shapes is wrong. A text that names every shape allows no other shapes.
    if (found.shapes.size() > kMostSceneShapes || (NamesAll(wanted) && found.shapes.size() != wanted.size()))
      found.shapes.clear();
    Score(text, language, found, scores);
  }
  return scores;
}

}  // namespace headlight
