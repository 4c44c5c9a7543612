// Checks folders of images with one subfolder per class.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/image/image_files.h"
#include "headlight/recipes/check_findings.h"
#include "headlight/recipes/image_training.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

// Returns the format of a file from its first bytes, as an extension, or "" if the file is not an image.
std::string_view FormatOf(std::string_view file) {
  if (file.starts_with("\xFF\xD8\xFF")) return "jpg";
  if (file.starts_with("\x89PNG\r\n\x1A\n")) return "png";
  if (file.starts_with("RIFF") && file.size() >= 12 && file.substr(8, 4) == "WEBP") return "webp";
  if (file.starts_with("BM")) return "bmp";
  if (file.starts_with("GIF8")) return "gif";
  if (file.starts_with("II*\0"sv) || file.starts_with("MM\0*"sv) || file.starts_with("II+\0"sv) ||
      file.starts_with("MM\0+"sv))
    return "tiff";
  return "";
}

// Returns the extension in lower case, without the dot.
std::string ExtensionOf(const fs::path& path) {
  std::string extension = path.extension().string();
  if (!extension.empty()) extension.erase(0, 1);
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}

std::string_view FormatOfExtension(std::string_view extension) {
  if (extension == "jpeg") return "jpg";
  if (extension == "tif") return "tiff";
  return extension;
}

struct ImageFile {
  std::string path, label;  // `label` is empty for images outside the class folders
  bool is_valid = false;
  std::uint64_t hash = 0;
  std::string error = {}, format = {};  // the error of a damaged file; the true format if the extension is wrong
  std::int64_t height = 0, width = 0;
};

void Examine(ImageFile& image, const DataCheck& options) {
  try {
    const MappedFile file(image.path);
    image.hash = HashOf(file.text());
    const std::string_view format = FormatOf(file.text());
    if (!format.empty() && format != FormatOfExtension(ExtensionOf(image.path))) image.format = format;
    if (!options.decode) return;
    const Image decoded = DecodeImage(file.bytes(), image.path, options.most_pixels);
    image.height = decoded.height;
    image.width = decoded.width;
  } catch (const Error& error) {
    if (error.cause() != ErrorCause::user) throw;
    image.error = error.what();
  }
}

class FolderChecker {
 public:
  FolderChecker(const DataCheck& options, const CheckObserver& observer)
      : options_(options), observer_(observer), findings_(options.examples) {}

  CheckResult Run() {
    for (const std::string& folder : options_.files) List(folder, /*is_valid=*/false);
    const std::size_t train_images = images_.size();
    Check(train_images > 0, "{}: there is no image in it", fmt::join(options_.files, ", "));
    for (const std::string& folder : options_.valid) List(folder, /*is_valid=*/true);
    for (const auto& [extension, count] : left_out_)
      findings_.Add(FindingKind::left_out, count,
                    {fmt::format("{}: {} file{}", extension.empty() ? "no extension" : "." + extension, count,
                                 count == 1 ? "" : "s")});
    constexpr std::int64_t at_once = 1024;  // files between two progress reports
    const std::int64_t all = std::ssize(images_);
    for (std::int64_t begin = 0; begin < all; begin += at_once) {
      ParallelFor(std::min(at_once, all - begin),
                  [&](std::int64_t i) { Examine(images_[static_cast<std::size_t>(begin + i)], options_); });
      if (observer_.progress) observer_.progress(std::min(begin + at_once, all));
    }
    for (const ImageFile& image : images_) Add(image);
    FindDuplicates();
    CheckClasses();
    return {.unit = "images", .count = static_cast<std::int64_t>(train_images), .findings = findings_.Take()};
  }

 private:
  // Lists the images of a folder, sorted by path, as in training.
  void List(const std::string& folder, bool is_valid) {
    std::vector<std::string> paths;
    std::set<std::string> classes;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error), end;
    for (; !error && entry != end; entry.increment(error)) {
      const fs::path& path = entry->path();
      std::error_code unknown;
      const bool is_folder = entry->is_directory(unknown);
      if (path.filename().string().starts_with('.')) {
        if (is_folder) entry.disable_recursion_pending();
      } else if (is_folder) {
        if (entry.depth() == 0) classes.insert(path.filename().string());
      } else if (IsImagePath(path.string())) {
        paths.push_back(path.string());
      } else if (IsOtherImage(path)) {
        ++left_out_[ExtensionOf(path)];
      }
    }
    Check(!error, "{}: its files cannot be listed: {}", folder, error.message());
    std::ranges::sort(paths);
    std::set<std::string> used;
    for (std::string& path : paths) {
      const fs::path below = fs::path(path).lexically_relative(folder);
      ImageFile image{.path = std::move(path), .label = {}, .is_valid = is_valid};
      if (options_.classes && std::distance(below.begin(), below.end()) > 1) image.label = below.begin()->string();
      used.insert(image.label);
      images_.push_back(std::move(image));
    }
    for (const std::string& name : classes)
      if (!used.contains(name) && !used.empty() && used != std::set<std::string>{""})
        findings_.Add(FindingKind::empty_classes, [&] { return folder + "/" + name; });
  }

  // Returns true if a file with an unsupported extension is an image, judging by its content or extension.
  static bool IsOtherImage(const fs::path& path) {
    const std::string other = path.string();
    if (IsUnsupportedImagePath(other)) return true;
    try {
      const std::string_view format = FormatOf(MappedFile(other).text());
      return !format.empty() && format != "bmp";  // a text may also begin with "BM"
    } catch (const Error&) {
      return false;
    }
  }

  void Add(const ImageFile& image) {
    if (!image.error.empty()) return findings_.Add(FindingKind::damaged, [&] { return image.error; });
    if (!image.format.empty())
      findings_.Add(FindingKind::wrong_extension,
                    [&] { return fmt::format("{}: the file is a .{}", image.path, image.format); });
    if (options_.decode && std::min(image.height, image.width) < options_.min_side)
      findings_.Add(FindingKind::small_images,
                    [&] { return fmt::format("{}: {} x {} pixels", image.path, image.width, image.height); });
  }

  void FindDuplicates() {
    std::vector<HashedRow> rows;
    for (std::size_t i = 0; i < images_.size(); ++i)
      if (images_[i].error.empty()) rows.push_back({images_[i].hash, i});
    std::ranges::sort(rows);                         // with equal hashes, training images come first
    std::map<std::uint64_t, std::uint64_t> earlier;  // the first occurrence of each duplicate, by index
    for (std::size_t first = 0, i = 0; i < rows.size(); ++i) {
      if (rows[i].hash != rows[first].hash) first = i;
      if (i > first) earlier[rows[i].place] = rows[first].place;
    }
    for (const auto& [place, first] : earlier) {
      const ImageFile &image = images_[place], &same = images_[first];
      const FindingKind kind = image.is_valid && !same.is_valid ? FindingKind::leaked_images
                               : image.label == same.label      ? FindingKind::duplicate_images
                                                                : FindingKind::duplicates_between_classes;
      findings_.Add(kind, [&] { return fmt::format("{}: as {}", image.path, same.path); });
    }
  }

  void CheckClasses() {
    std::set<std::string> train, valid;
    for (const ImageFile& image : images_) (image.is_valid ? valid : train).insert(image.label);
    if (train.size() > 1 || (!valid.empty() && train != valid))
      for (const ImageFile& image : images_)
        if (image.label.empty()) findings_.Add(FindingKind::outside_classes, [&] { return image.path; });
    const bool has_classes = train.erase("") == 0 || !train.empty();
    valid.erase("");
    if (!has_classes) return;
    if (train.size() == 1) findings_.Add(FindingKind::one_class, [&] { return Quoted(*train.begin()); });
    for (const std::string& label : train)
      if (IsNameOfSet(label)) findings_.Add(FindingKind::classes_named_as_sets, [&] { return Quoted(label); });
    for (const std::string& label : valid)
      if (!train.contains(label)) findings_.Add(FindingKind::unknown_classes, [&] { return Quoted(label); });
  }

  const DataCheck& options_;
  const CheckObserver& observer_;
  FindingCollector findings_;
  std::vector<ImageFile> images_;
  std::map<std::string, std::int64_t> left_out_;  // number of skipped files by extension
};

}  // namespace

CheckResult CheckImageFolders(const DataCheck& options, const CheckObserver& observer) {
  return FolderChecker(options, observer).Run();
}

}  // namespace headlight
