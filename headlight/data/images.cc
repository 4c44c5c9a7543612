#include "headlight/data/images.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/base/parallel.h"
#include "headlight/data/image_errors.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

// Adds images and their labels to a list.
struct LabelCollector {
  std::vector<std::string>& labels;
  NewLabels rule;
  ImageList list = {};

  void Add(ImageSource source, std::string_view label, const std::string& location) {
    list.labels.push_back(NumberOfLabel(label, labels, rule, location));
    list.sources.push_back(std::move(source));
  }
};

void AddFolder(const std::string& folder, LabelCollector& collector) {
  std::vector<std::string> classes;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".")) continue;
    if (entry.is_directory())
      classes.push_back(name);
    else
      Check(!IsImagePath(name), "{}/{}: an image must lie in the folder of its class, such as {}/cats/{}", folder, name,
            folder, name);
  }
  Check(!classes.empty(), "{}: there is no folder of a class in it, such as {}/cats", folder, folder);
  std::ranges::sort(classes);
  for (const std::string& name : classes) {
    const std::string path = folder + "/" + name;
    for (const std::string& file : ImageFilesIn(path)) collector.Add({.path = file}, name, path);
  }
}

constexpr std::initializer_list<const char*> kLabels = {"label", "class"};

bool IsTable(std::string_view path) { return HasRecords(path) || IsTsv(path); }

// A callback that receives the file, the class (empty unless `labeled`) and the location of each image.
using AddImage = std::function<void(const std::string& file, const std::string& label, const std::string& location)>;
void ReadTable(const std::string& path, bool labeled, const AddImage& add) {
  const auto checked = [&](const std::string& file, const std::string& label, const std::string& location) {
    add(ImageOfTable(path, file, location), label, location);
  };
  const auto is_header = [labeled](const std::vector<std::string>& line) {
    return HasAny(line, kImageNames) && (!labeled || HasAny(line, kLabels));
  };
  if (std::optional<Records> records = RecordsOf(path, is_header)) {
    while (const auto record = records->Next())
      checked(PathOfRecord(*record), labeled ? LabelOf(OneOf(*record, kLabels)) : "", record->location());
    return;
  }
  LineReader lines(path);
  while (const auto line = lines.Next()) {
    if (line->empty()) continue;
    const std::string location = fmt::format("{}:{}", path, lines.line_number());
    const std::size_t tab = line->find('\t');
    Check(!labeled || (tab != std::string_view::npos && line->find('\t', tab + 1) == std::string_view::npos),
          "{}: expected the path of an image, a tab and its class", location);
    checked(std::string(line->substr(0, tab)), labeled ? std::string(line->substr(tab + 1)) : "", location);
  }
}

void AddTable(const std::string& path, LabelCollector& collector) {
  ReadTable(path, /*labeled=*/true,
            [&](const std::string& file, const std::string& label, const std::string& location) {
              collector.Add({.path = file}, label, location);
            });
}

void AddIdx(const std::string& path, const std::string& labels_path, LabelCollector& collector) {
  const auto images = std::make_shared<const IdxImages>(path);
  const std::vector<std::uint8_t> labels = ReadIdxLabels(labels_path);
  Check(std::ssize(labels) == images->count(), "{}: has {} images, and {} has {} labels", path, images->count(),
        labels_path, labels.size());
  for (std::int64_t i = 0; i < images->count(); ++i)
    collector.Add({.path = path, .idx = images, .index = i}, std::to_string(labels[static_cast<std::size_t>(i)]),
                  labels_path);
}

}  // namespace

bool IsTsv(std::string_view path) { return TextFormatOf(path) == TextFormat::tsv; }

std::string PathOfRecord(const JsonView& record) { return TextOf(OneOf(record, kImageNames)); }

std::string ImageOfTable(const std::string& table, const std::string& file, const std::string& location) {
  Check(!file.empty(), "{}: the path of the image is missing", location);
  const fs::path relative_to_table = fs::path(table).parent_path() / file;  // `file` if it is absolute
  std::error_code ignored;
  Check(fs::exists(relative_to_table, ignored), "{}: {}: no such file", location, relative_to_table.string());
  return relative_to_table.string();
}

ImageList ListLabeledImages(const std::vector<std::string>& paths, std::vector<std::string>& labels, NewLabels rule) {
  LabelCollector collector{labels, rule};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string& path = paths[i];
    const std::size_t before = collector.list.sources.size();
    std::error_code ignored;
    Check(fs::exists(path, ignored), "{}: no such file or folder", path);
    if (fs::is_directory(path, ignored)) {
      AddFolder(path, collector);
    } else if (IsTable(path)) {
      AddTable(path, collector);
    } else if (IsIdxPath(path)) {
      Check(i + 1 < paths.size() && IsIdxPath(paths[i + 1]),
            "{}: an IDX file of images must be followed by that of their classes", path);
      AddIdx(path, paths[++i], collector);
    } else {
      Fail(
          "{}: images and their classes are a folder with a folder for each class, a .csv, .tsv or .jsonl file, or "
          "two IDX files",
          path);
    }
    Check(collector.list.sources.size() > before, "{}: there is no image in it", path);
  }
  if (rule == NewLabels::added) Renumber(SortLabels(labels), collector.list.labels);
  return std::move(collector.list);
}

std::vector<ImageSource> ListUnlabeledImages(const std::vector<std::string>& sources) {
  std::vector<ImageSource> all;
  for (const std::string& source : sources) {
    std::error_code ignored;
    if (!IsTable(source) || fs::is_directory(source, ignored)) {
      for (ImageSource& one : ListImages({&source, 1})) all.push_back(std::move(one));
      continue;
    }
    const std::size_t before = all.size();
    ReadTable(source, /*labeled=*/false,
              [&](const std::string& file, const std::string&, const std::string&) { all.push_back({.path = file}); });
    Check(all.size() > before, "{}: there is no image in it", source);
  }
  return all;
}

void ThrowImageErrors(const std::vector<std::string>& errors) {
  constexpr std::size_t most = 20;
  if (errors.empty()) return;
  std::string all = errors.front();
  for (std::size_t i = 1; i < std::min(most, errors.size()); ++i) all += "; " + errors[i];
  if (errors.size() > most) all += fmt::format("; {} more images cannot be read", errors.size() - most);
  Fail("{}", all);
}

ImageSet::ImageSet(ImageList list, DecodeBytes decode, const TextShare& share, std::int64_t memory,
                   std::vector<std::string>* skipped)
    : decode_(std::move(decode)) {
  const bool labeled = !list.labels.empty();
  const auto count = list.sources.size();
  std::vector<std::uint64_t> hashes(count);
  std::vector<std::uint8_t> ours(count);
  std::vector<Image> kept(count);
  std::vector<std::string> errors(count);
  std::atomic<std::int64_t> bytes = 0;
  ParallelFor(static_cast<std::int64_t>(count), [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    const ImageSource& source = list.sources[i];
    const auto belongs = [&](std::string_view content) {
      hashes[i] = HashOf(content);
      ours[i] = share.Has({reinterpret_cast<const char*>(&hashes[i]), sizeof(hashes[i])}) ? 1 : 0;
      return ours[i] != 0;
    };
    if (source.idx) {  // the file's bytes are in memory
      const Image image = (*source.idx)[source.index];
      belongs({reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()});
      return;
    }
    try {
      const MappedFile file(source.path);
      if (!belongs(file.text()) || (bytes >= memory && skipped == nullptr)) return;
      Image image = decode_(file.bytes(), source.path);
      const auto size = static_cast<std::int64_t>(image.pixels.size());
      if (bytes.fetch_add(size) + size <= memory) kept[i] = std::move(image);
    } catch (const Error& error) {
      if (error.cause() != ErrorCause::user) throw;
      errors[i] = error.what();
      ours[i] = 0;
    }
  });
  std::erase(errors, "");
  if (skipped == nullptr) ThrowImageErrors(errors);
  if (skipped != nullptr) *skipped = std::move(errors);
  Hash64 hash;
  for (std::size_t i = 0; i < count; ++i) {
    if (ours[i] == 0) continue;
    const std::uint64_t parts[] = {hashes[i], labeled ? static_cast<std::uint64_t>(list.labels[i]) : 0};
    hash.Update({reinterpret_cast<const char*>(parts), sizeof(parts)});
    list_.sources.push_back(std::move(list.sources[i]));
    if (labeled) list_.labels.push_back(list.labels[i]);
    kept_.push_back(std::move(kept[i]));
  }
  hash_ = hash.value();
}

Image ImageSet::operator[](std::int64_t image) const {
  const auto i = static_cast<std::size_t>(image);
  if (!kept_[i].pixels.empty()) return kept_[i];
  const ImageSource& source = list_.sources[i];
  if (source.idx) return (*source.idx)[source.index];
  return decode_(MappedFile(source.path).bytes(), source.path);
}

}  // namespace headlight
