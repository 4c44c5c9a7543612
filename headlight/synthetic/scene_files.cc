#include "headlight/synthetic/scene_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/image/decoding/encode.h"
#include "headlight/synthetic/scene_questions.h"

namespace headlight {
namespace {

// Returns the header of an IDX file with bytes in an array of this shape.
std::string IdxHeader(const std::vector<std::int64_t>& shape) {
  std::string header = {0, 0, 8, static_cast<char>(shape.size())};
  for (const std::int64_t length : shape)
    for (const int shift : {24, 16, 8, 0}) header += static_cast<char>(length >> shift & 255);
  return header;
}

// A data set in COCO's format, without the classes.
struct CocoSet {
  Json::Array images, boxes;

  void Add(std::int64_t number, const Image& image, const std::vector<LabeledBox>& found) {
    images.push_back(Json::Object{{"id", number},
                                  {"file_name", fmt::format("{}.png", number)},
                                  {"height", image.height},
                                  {"width", image.width}});
    for (const auto& [box, label, area, crowd] : found)
      boxes.push_back(Json::Object{{"id", std::ssize(boxes) + 1},
                                   {"image_id", number},
                                   {"category_id", label + 1},
                                   {"bbox", Json::Array{box.left, box.top, box.width(), box.height()}},
                                   {"area", area},
                                   {"iscrowd", crowd ? 1 : 0}});
  }
  void Write(const std::string& folder, const std::vector<std::string>& labels) && {
    Json::Array classes;
    for (const std::string& label : labels)
      classes.push_back(Json::Object{{"id", std::ssize(classes) + 1}, {"name", label}});
    const Json file =
        Json::Object{{"images", std::move(images)}, {"annotations", std::move(boxes)}, {"categories", classes}};
    WriteFile(folder + "/annotations.json", file.Line());
  }
};

}  // namespace

void WriteScenes(const std::string& folder, std::int64_t count, std::uint64_t seed, const SceneOptions& options) {
  std::filesystem::create_directories(folder);
  CocoSet set;
  for (std::int64_t number = 0; number < count; ++number) {
    const Scene scene = DrawScene(seed, static_cast<std::uint64_t>(number), options);
    WritePng(fmt::format("{}/{}.png", folder, number), scene.image);
    set.Add(number, scene.image, scene.boxes);
  }
  std::move(set).Write(folder, SceneLabels());
}

void WriteShapes(const std::string& prefix, std::int64_t count, std::uint64_t seed, SceneOptions options) {
  options.fewest = options.most = 1;
  std::string pixels, classes;
  for (std::int64_t number = 0; number < count; ++number) {
    const Scene scene = DrawScene(seed, static_cast<std::uint64_t>(number), options);
    if (scene.boxes.empty()) continue;
    pixels.append(scene.image.pixels.begin(), scene.image.pixels.end());
    classes += static_cast<char>(scene.boxes.front().label);
  }
  const auto drawn = std::ssize(classes);
  WriteFile(prefix + "-images-idx4-ubyte", IdxHeader({drawn, options.height, options.width, 3}) + pixels);
  WriteFile(prefix + "-labels-idx1-ubyte", IdxHeader({drawn}) + classes);
}

namespace {

constexpr std::int64_t kMoreCaptions = 3;

// Lines of the caption file and of the question file.
struct SceneText {
  std::string captions, questions;
};

SceneText TextOf(const ShapeScene& scene, const std::string& path, Random random, SceneLanguage language) {
  std::vector<SceneCaption> captions = {FullCaption(scene)};
  for (std::int64_t i = 0; i < kMoreCaptions; ++i) captions.push_back(RandomCaption(random, scene));
  Json::Array texts, misses;
  for (const SceneCaption& caption : captions) {
    const Json text = Say(caption, language);
    const Json miss = Say(HardNegative(random, caption, scene), language);
    if (std::ranges::find(texts, text) != texts.end()) continue;
    texts.push_back(text);
    misses.push_back(miss);
  }
  SceneText said{Json(Json::Object{{"path", path}, {"captions", texts}, {"hard_negatives", misses}}).Line() + "\n", ""};
  for (std::int32_t i = 0; i < kQuestionKinds; ++i) {
    const auto kind = static_cast<QuestionKind>(i);
    if (const auto asked = AskAbout(random, scene, kind, language))
      said.questions +=
          Json(Json::Object{
                   {"path", path}, {"question", asked->question}, {"answer", asked->answer}, {"kind", NameOf(kind)}})
              .Line() +
          "\n";
  }
  return said;
}

}  // namespace

void WriteShapeScenes(const std::string& folder, std::int64_t count, std::uint64_t seed, Portion portion,
                      const ShapeSceneOptions& options) {
  constexpr std::array<std::pair<SceneLanguage, const char*>, 2> languages = {
      {{SceneLanguage::german, "de"}, {SceneLanguage::english, "en"}}};
  std::filesystem::create_directories(folder);
  CocoSet set;
  std::array<SceneText, 2> all;
  constexpr std::int64_t at_once = 256;
  for (std::int64_t first = 0; first < count; first += at_once) {
    std::vector<ShapeScene> scenes(static_cast<std::size_t>(std::min(at_once, count - first)));
    ParallelFor(std::ssize(scenes), [&](std::int64_t i) {
      ShapeScene& scene = scenes[static_cast<std::size_t>(i)];
      scene = DrawShapeScene(seed, static_cast<std::uint64_t>(first + i), portion, options);
      WritePng(fmt::format("{}/{}.png", folder, first + i), scene.image);
    });
    for (const ShapeScene& scene : scenes) {
      const std::int64_t number = std::ssize(set.images);
      set.Add(number, scene.image, scene.boxes);
      for (std::size_t i = 0; i < languages.size(); ++i) {
        // The texts use a separate random stream, which is the same for both languages.
        const Random random(~seed, static_cast<std::uint64_t>(number));
        const SceneText text = TextOf(scene, fmt::format("{}.png", number), random, languages[i].first);
        all[i].captions += text.captions;
        all[i].questions += text.questions;
      }
    }
  }
  std::vector<std::string> labels;
  for (std::int32_t color = 0; color < kSceneColors; ++color)
    for (std::int32_t kind = 0; kind < kSceneKinds; ++kind)
      labels.push_back(ColorWord(color, SceneLanguage::english) + " " + KindWord(kind, SceneLanguage::english));
  std::move(set).Write(folder, labels);
  for (std::size_t i = 0; i < languages.size(); ++i) {
    WriteFile(fmt::format("{}/captions.{}.jsonl", folder, languages[i].second), all[i].captions);
    WriteFile(fmt::format("{}/questions.{}.jsonl", folder, languages[i].second), all[i].questions);
  }
}

}  // namespace headlight
