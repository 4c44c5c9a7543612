#include "headlight/image/image_files.h"

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

// Returns the names of files that match a pattern, sorted.
std::vector<std::string> Matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> names;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) names.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  std::ranges::sort(names);  // in byte order, which does not depend on the locale
  return names;
}

// Splits a name such as "t10k-images-idx3-ubyte.gz#7" into the file and the number. The number is 0 for other names.
std::pair<std::string, std::int64_t> IdxNumber(const std::string& source) {
  const std::size_t hash = source.rfind('#');
  std::int64_t number = 0;
  if (hash == std::string::npos || !IsIdxPath(std::string_view(source).substr(0, hash))) return {source, 0};
  const char* const end = source.data() + source.size();
  const auto read = std::from_chars(source.data() + hash + 1, end, number);
  return {source.substr(0, hash), read.ec == std::errc() && read.ptr == end ? number : 0};
}

void Add(const std::string& source, std::vector<ImageSource>& images) {
  std::error_code error;
  const fs::file_status status = fs::status(source, error);
  if (fs::is_directory(status)) {
    for (std::string& path : ImageFilesIn(source)) images.push_back({std::move(path)});
  } else if (fs::exists(status) && IsIdxPath(source)) {
    const auto idx = std::make_shared<const IdxImages>(source);
    for (std::int64_t index = 0; index < idx->count(); ++index) images.push_back({source, idx, index});
  } else if (const auto [path, number] = IdxNumber(source); !fs::exists(status) && number > 0) {
    const auto idx = std::make_shared<const IdxImages>(path);
    Check(number <= idx->count(), "{}: the file has {} images", source, idx->count());
    images.push_back({path, idx, number - 1});
  } else {
    Check(fs::exists(status), "{}: no such file or folder", source);
    images.push_back({source});
  }
}

// Returns the part after the last dot, in lower case.
std::string EndingOf(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  std::string ending(dot == std::string_view::npos ? "" : path.substr(dot + 1));
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending;
}

}  // namespace

std::string ImageSource::name() const {
  if (path == "-") return "standard input";
  return idx == nullptr ? path : fmt::format("{}#{}", path, index + 1);
}

bool IsImagePath(std::string_view path) {
  const std::string ending = EndingOf(path);
  constexpr std::string_view endings[] = {"jpg", "jpeg", "png", "webp", "bmp", "gif", "tif", "tiff"};
  return std::ranges::find(endings, ending) != std::end(endings);
}

bool IsUnsupportedImagePath(std::string_view path) {
  constexpr std::string_view endings[] = {"avif", "heic", "heif", "ico", "jp2", "pgm", "ppm", "psd", "svg", "tga"};
  return std::ranges::find(endings, EndingOf(path)) != std::end(endings);
}

std::int64_t CountUnsupportedImages(std::span<const std::string> sources) {
  std::int64_t count = 0;
  for (const std::string& source : sources) {
    std::error_code ignored;
    if (!fs::is_directory(source, ignored)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source, ignored))
      count += IsUnsupportedImagePath(entry.path().string()) ? 1 : 0;
  }
  return count;
}

std::vector<std::string> ImageFilesIn(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const bool hidden = entry->path().filename().string().starts_with('.');
    std::error_code unknown;  // ignored; a broken link causes an error only when it is read
    const bool is_folder = entry->is_directory(unknown);
    if (hidden && is_folder) entry.disable_recursion_pending();
    if (!hidden && !is_folder && IsImagePath(entry->path().string())) paths.push_back(entry->path().string());
  }
  Check(!error, "{}: its files cannot be listed: {}", folder, error.message());
  Check(!paths.empty(),
        "{}: there is no image in this folder: no file ending in .jpg, .jpeg, .png, .webp, "
        ".bmp, .gif, .tif or .tiff",
        folder);
  std::ranges::sort(paths);
  return paths;
}

std::vector<ImageSource> ListImages(std::span<const std::string> sources) {
  std::vector<ImageSource> images;
  bool input = false;
  for (const std::string& source : sources) {
    Check(!source.empty(), "an image's path is empty");
    if (source == "-") {
      Check(!input, "standard input (-) can only be one of the images");
      input = true;
      images.push_back({source});
      continue;
    }
    std::error_code error;
    if (source.find_first_of("*?[") == std::string::npos || fs::exists(source, error)) {
      Add(source, images);
      continue;
    }
    const std::vector<std::string> matches = Matches(source);
    Check(!matches.empty(), "{}: no file matches this pattern", source);
    for (const std::string& match : matches) Add(match, images);
  }
  return images;
}

}  // namespace headlight
