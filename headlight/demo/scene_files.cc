#include "headlight/demo/scene_files.h"

#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/image/decoding/encode.h"

namespace headlight {
namespace {

// Of an array of bytes with these axes.
std::string IdxHeader(const std::vector<std::int64_t>& shape) {
  std::string header = {0, 0, 8, static_cast<char>(shape.size())};
  for (const std::int64_t length : shape)
    for (const int shift : {24, 16, 8, 0}) header += static_cast<char>(length >> shift & 255);
  return header;
}

}  // namespace

void WriteScenes(const std::string& folder, std::int64_t count, std::uint64_t seed, const SceneOptions& options) {
  std::filesystem::create_directories(folder);
  Json::Array pictures, boxes, classes;
  for (const std::string& label : SceneLabels())
    classes.push_back(Json::Object{{"id", std::ssize(classes) + 1}, {"name", label}});
  for (std::int64_t number = 0; number < count; ++number) {
    const Scene scene = DrawScene(seed, static_cast<std::uint64_t>(number), options);
    const std::string file = std::to_string(number) + ".png";
    WritePng(folder + "/" + file, scene.picture);
    pictures.push_back(Json::Object{
        {"id", number}, {"file_name", file}, {"height", scene.picture.height}, {"width", scene.picture.width}});
    for (const auto& [box, label, area, crowd] : scene.boxes)
      boxes.push_back(Json::Object{{"id", std::ssize(boxes) + 1},
                                   {"image_id", number},
                                   {"category_id", label + 1},
                                   {"bbox", Json::Array{box.left, box.top, box.width(), box.height()}},
                                   {"area", area},
                                   {"iscrowd", crowd ? 1 : 0}});
  }
  const Json file = Json::Object{{"images", pictures}, {"annotations", boxes}, {"categories", classes}};
  WriteFile(folder + "/annotations.json", file.Line());
}

void WriteShapes(const std::string& prefix, std::int64_t count, std::uint64_t seed, SceneOptions options) {
  options.fewest = options.most = 1;
  std::string pixels, classes;
  for (std::int64_t number = 0; number < count; ++number) {
    const Scene scene = DrawScene(seed, static_cast<std::uint64_t>(number), options);
    if (scene.boxes.empty()) continue;
    pixels.append(scene.picture.pixels.begin(), scene.picture.pixels.end());
    classes += static_cast<char>(scene.boxes.front().label);
  }
  const auto drawn = std::ssize(classes);
  WriteFile(prefix + "-images-idx4-ubyte", IdxHeader({drawn, options.height, options.width, 3}) + pixels);
  WriteFile(prefix + "-labels-idx1-ubyte", IdxHeader({drawn}) + classes);
}

}  // namespace headlight
