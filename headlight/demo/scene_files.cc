#include "headlight/demo/scene_files.h"

#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/image/decoding/encode.h"

namespace headlight {

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

}  // namespace headlight
