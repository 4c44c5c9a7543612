#include "headlight/data/coco.h"

#include <fmt/format.h>

#include <filesystem>

#include "headlight/base/error.h"

namespace headlight {

namespace fs = std::filesystem;

std::string FindPicture(const std::string& name, const std::vector<std::string>& folders, const std::string& place) {
  Check(!name.empty(), "{}: the picture's file has no name", place);
  for (const std::string& folder : folders) {
    const fs::path path = fs::path(folder) / name;
    std::error_code error;
    if (fs::is_regular_file(path, error)) return path.string();
  }
  Fail("{}: there is no picture {} in {}", place, Quoted(name), fmt::join(folders, ", "));
}

std::size_t CocoPictures::IndexOf(const JsonView& annotation) const {
  const JsonView id = annotation["image_id"];
  const auto found = index_of.find(id.Integer());
  Check(found != index_of.end(), "{}: there is no picture {}", id.place(), id.Integer());
  return found->second;
}

CocoPictures ReadCocoPictures(const JsonView& file, const std::string& path, const std::vector<std::string>& folders) {
  std::vector<std::string> places = folders;
  const fs::path beside = fs::path(path).parent_path();
  places.push_back(beside.empty() ? "." : beside.string());
  CocoPictures read;
  for (const JsonView& picture : file["images"].Items()) {
    const JsonView id = picture["id"];
    const bool first = read.index_of.emplace(id.Integer(-kMostId, kMostId), read.pictures.size()).second;
    Check(first, "{}: two pictures have the id {}", id.place(), id.Integer());
    read.pictures.push_back({.path = FindPicture(picture["file_name"].String(), places, picture.place()),
                             .id = id.Integer(),
                             .height = picture.Get("height", 0).Integer(0, 1 << 24),
                             .width = picture.Get("width", 0).Integer(0, 1 << 24)});
  }
  return read;
}

}  // namespace headlight
