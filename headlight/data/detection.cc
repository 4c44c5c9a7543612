#include "headlight/data/detection.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/json.h"
#include "headlight/data/coco.h"
#include "headlight/data/lines.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr double kFarthest = 1 << 24;  // maximum absolute coordinate in pixels

std::vector<std::string> With(std::vector<std::string> folders, std::initializer_list<fs::path> more) {
  for (const fs::path& path : more) folders.push_back(path.empty() ? "." : path.string());
  return folders;
}

struct Category {
  std::int64_t id;
  std::string name, location;
};

// Returns COCO's categories, sorted by id.
std::vector<Category> CategoriesOf(const JsonView& file) {
  std::vector<Category> categories;
  for (const JsonView& category : file["categories"].Items())
    categories.push_back({category["id"].Integer(-kMostId, kMostId), category["name"].String(), category.location()});
  std::ranges::stable_sort(categories, {}, &Category::id);
  for (std::size_t i = 1; i < categories.size(); ++i)
    Check(categories[i - 1].id != categories[i].id, "{}: two categories have the id {}", categories[i].location,
          categories[i].id);
  return categories;
}

void Add(DetectionSet& set, DetectionExample& example, const LabeledBox& box) {
  if (box.box.width() <= 0 || box.box.height() <= 0) {
    ++set.without_area;
    example.without_area.push_back(box);
    return;
  }
  ++set.boxes;
  example.boxes.push_back(box);
}

void ReadCoco(const std::string& path, const std::vector<std::string>& folders, std::vector<std::string>& labels,
              NewLabels rule, DetectionSet& set) {
  const JsonView file = ReadJson(path, kCocoLimits);
  std::map<std::int64_t, std::int32_t> label_of;
  for (const Category& category : CategoriesOf(file))
    label_of[category.id] = NumberOfLabel(category.name, labels, rule, category.location);
  CocoImages read = ReadCocoImages(file, path, folders);
  const std::size_t before = set.examples.size();
  for (CocoImage& image : read.images)
    set.examples.push_back(
        {.image = std::move(image.path), .id = image.id, .height = image.height, .width = image.width});
  for (const JsonView& annotation : file["annotations"].Items()) {
    const JsonView category = annotation["category_id"], box = annotation["bbox"];
    DetectionExample& example = set.examples[before + read.IndexOf(annotation)];
    const auto label = label_of.find(category.Integer());
    Check(label != label_of.end(), "{}: there is no category {}", category.location(), category.Integer());
    const std::vector<JsonView> sides = box.Items();
    Check(sides.size() == 4, "{}: expected x, y, width and height, not {} numbers", box.location(), sides.size());
    const double x = sides[0].Number(-kFarthest, kFarthest), y = sides[1].Number(-kFarthest, kFarthest);
    const Box corners = {x, y, x + sides[2].Number(-kFarthest, kFarthest), y + sides[3].Number(-kFarthest, kFarthest)};
    Add(set, example,
        {.box = corners,
         .label = label->second,
         .area = annotation.Get("area", corners.area()).Number(),
         .crowd = annotation.Get("iscrowd", 0).Integer(0, 1) != 0});
  }
}

// The XML files that a path refers to, and the folders of their images.
struct VocFiles {
  std::vector<std::string> annotations, folders;
};

VocFiles VocFilesOf(const std::string& path, const std::vector<std::string>& folders) {
  VocFiles files;
  if (fs::is_directory(path)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
      if (entry.path().extension() == ".xml") files.annotations.push_back(entry.path().string());
    std::ranges::sort(files.annotations);
    Check(!files.annotations.empty(), "{}: there is no XML file in this folder", path);
    files.folders = With(folders, {path, fs::path(path) / ".." / "JPEGImages"});
    return files;
  }
  // Reads a list such as ROOT/ImageSets/Main/train.txt.
  const fs::path root = fs::path(path).parent_path() / ".." / "..";
  LineReader lines(path);
  while (const auto line = lines.Next()) {
    const std::string_view name = line->substr(0, line->find_first_of(" \t"));  // the name may be followed by 1 or -1
    if (name.empty()) continue;
    const std::string annotation = (root / "Annotations" / (std::string(name) + ".xml")).string();
    Check(fs::is_regular_file(annotation), "{}:{}: there is no file {}", path, lines.line_number(), annotation);
    files.annotations.push_back(annotation);
  }
  Check(!files.annotations.empty(), "{}: there is no name in it", path);
  files.folders = With(folders, {root / "JPEGImages", root / "Annotations"});
  return files;
}

void ReadVocFiles(const VocFiles& files, std::vector<std::string>& labels, NewLabels rule, const VocReader& read_voc,
                  DetectionSet& set) {
  std::vector<ImageAnnotation> annotations;
  std::set<std::string> names;
  for (const std::string& path : files.annotations) {
    annotations.push_back(read_voc(path));
    for (const ImageAnnotation::Object& object : annotations.back().objects) names.insert(object.label);
  }
  if (rule == NewLabels::added)  // sorted, so that labels do not depend on the order of the files
    for (const std::string& name : names) NumberOfLabel(name, labels, rule, files.annotations.front());
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    const ImageAnnotation& annotation = annotations[i];
    const std::string& path = files.annotations[i];
    DetectionExample example = {.image = FindImage(annotation.image, files.folders, path),
                                .id = static_cast<std::int64_t>(i) + 1,
                                .height = annotation.height,
                                .width = annotation.width};
    for (const ImageAnnotation::Object& object : annotation.objects)
      Add(set, example,
          {.box = object.box, .label = NumberOfLabel(object.label, labels, rule, path), .area = object.box.area()});
    set.examples.push_back(std::move(example));
  }
}

}  // namespace

void CheckSize(const DetectionExample& example, ImageSize decoded) {
  const auto differs = [](std::int64_t said, std::int64_t side) { return said > 0 && said != side; };
  Check(!differs(example.width, decoded.width) && !differs(example.height, decoded.height),
        "{}: the decoded image, in its EXIF orientation, has {} x {} pixels, but its annotation says {} x "
        "{}: the boxes would not match",
        example.image, decoded.width, decoded.height, example.width, example.height);
}

DetectionSet ReadDetectionSet(const std::vector<std::string>& paths, const std::vector<std::string>& folders,
                              std::vector<std::string>& labels, NewLabels rule, const VocReader& read_voc) {
  for (const std::string& folder : folders) Check(fs::is_directory(folder), "{}: there is no such folder", folder);
  DetectionSet set;
  for (const std::string& path : paths) {
    Check(fs::exists(path), "{}: there is no such file", path);
    const std::size_t before = set.examples.size();
    if (path.ends_with(".json"))
      ReadCoco(path, folders, labels, rule, set);
    else
      ReadVocFiles(VocFilesOf(path, folders), labels, rule, read_voc, set);
    Check(set.examples.size() > before, "{}: there is no image in it", path);
  }
  return set;
}

std::uint64_t HashOfDetectionSet(const DetectionSet& set) {
  Hash64 hash;
  const auto add = [&](const auto& value) { hash.Update({reinterpret_cast<const char*>(&value), sizeof(value)}); };
  for (const DetectionExample& example : set.examples) {
    hash.Update(fs::path(example.image).filename().string());
    add(example.boxes.size());
    for (const LabeledBox& box : example.boxes) {
      add(box.box);
      add(box.label);
      add(box.crowd);
    }
  }
  return hash.value();
}

CocoNames ReadCocoNames(const std::string& path) {
  const JsonView file = ReadJson(path, kCocoLimits);
  CocoNames names;
  for (const JsonView& image : file["images"].Items())
    names.images.emplace_back(fs::path(image["file_name"].String()).filename().string(),
                              image["id"].Integer(-kMostId, kMostId));
  std::ranges::sort(names.images);
  const auto twice = std::ranges::adjacent_find(names.images, {}, &std::pair<std::string, std::int64_t>::first);
  Check(twice == names.images.end(), "{}: two images are called {}", path,
        twice == names.images.end() ? "" : Quoted(twice->first));
  for (const Category& category : CategoriesOf(file)) names.categories.emplace_back(category.name, category.id);
  return names;
}

}  // namespace headlight
