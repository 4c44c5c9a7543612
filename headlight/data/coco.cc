#include "headlight/data/coco.h"

#include <fmt/format.h>

#include <filesystem>

#include "headlight/base/error.h"

namespace headlight {

namespace fs = std::filesystem;

std::string FindImage(const std::string& name, const std::vector<std::string>& folders, const std::string& location) {
  Check(!name.empty(), "{}: the image's file has no name", location);
  for (const std::string& folder : folders) {
    const fs::path path = fs::path(folder) / name;
    std::error_code error;
    if (fs::is_regular_file(path, error)) return path.string();
  }
  Fail("{}: there is no image {} in {}", location, Quoted(name), fmt::join(folders, ", "));
}

std::size_t CocoImages::IndexOf(const JsonView& annotation) const {
  const JsonView id = annotation["image_id"];
  const auto found = index_of.find(id.Integer());
  Check(found != index_of.end(), "{}: there is no image {}", id.location(), id.Integer());
  return found->second;
}

CocoImages ReadCocoImages(const JsonView& file, const std::string& path, const std::vector<std::string>& folders) {
  std::vector<std::string> places = folders;
  const fs::path beside = fs::path(path).parent_path();
  places.push_back(beside.empty() ? "." : beside.string());
  CocoImages read;
  for (const JsonView& image : file["images"].Items()) {
    const JsonView id = image["id"];
    const bool first = read.index_of.emplace(id.Integer(-kMostId, kMostId), read.images.size()).second;
    Check(first, "{}: two images have the id {}", id.location(), id.Integer());
    read.images.push_back({.path = FindImage(image["file_name"].String(), places, image.location()),
                           .id = id.Integer(),
                           .height = image.Get("height", 0).Integer(0, 1 << 24),
                           .width = image.Get("width", 0).Integer(0, 1 << 24)});
  }
  return read;
}

}  // namespace headlight
