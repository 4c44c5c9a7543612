#include "headlight/data/pictures.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/base/parallel.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

// Adds pictures and their labels to a list.
struct LabelCollector {
  std::vector<std::string>& labels;
  NewLabels rule;
  PictureList list = {};

  void Add(PictureSource source, std::string_view label, const std::string& place) {
    list.labels.push_back(NumberOfLabel(label, labels, rule, place));
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
      Check(!IsPicturePath(name), "{}/{}: a picture must lie in the folder of its class, such as {}/cats/{}", folder,
            name, folder, name);
  }
  Check(!classes.empty(), "{}: there is no folder of a class in it, such as {}/cats", folder, folder);
  std::ranges::sort(classes);
  for (const std::string& name : classes) {
    const std::string path = folder + "/" + name;
    for (const std::string& file : PictureFilesIn(path)) collector.Add({.path = file}, name, path);
  }
}

bool IsTable(std::string_view path) { return HasRecords(path) || IsTsv(path); }

// Calls `add` with each picture's file, its class, which is empty where it is not `labelled`, and its place.
using AddPicture = std::function<void(const std::string& file, const std::string& label, const std::string& place)>;
void ReadTable(const std::string& path, bool labelled, const AddPicture& add) {
  const auto checked = [&](const std::string& file, const std::string& label, const std::string& place) {
    add(PictureOfTable(path, file, place), label, place);
  };
  if (IsTsv(path)) {
    LineReader lines(path);
    while (const auto line = lines.Next()) {
      if (line->empty()) continue;
      const std::string place = fmt::format("{}:{}", path, lines.line_number());
      const std::size_t tab = line->find('\t');
      Check(!labelled || (tab != std::string_view::npos && line->find('\t', tab + 1) == std::string_view::npos),
            "{}: expected the path of a picture, a tab and its class", place);
      checked(std::string(line->substr(0, tab)), labelled ? std::string(line->substr(tab + 1)) : "", place);
    }
    return;
  }
  Records records(path);
  while (const auto record = records.Next())
    checked(PathOfRecord(*record), labelled ? LabelOf(OneOf(*record, {"label", "class"})) : "", record->place());
}

void AddTable(const std::string& path, LabelCollector& collector) {
  ReadTable(path, /*labelled=*/true, [&](const std::string& file, const std::string& label, const std::string& place) {
    collector.Add({.path = file}, label, place);
  });
}

void AddIdx(const std::string& path, const std::string& labels_path, LabelCollector& collector) {
  const auto pictures = std::make_shared<const IdxPictures>(path);
  const std::vector<std::uint8_t> labels = ReadIdxLabels(labels_path);
  Check(std::ssize(labels) == pictures->count(), "{}: has {} pictures, and {} has {} labels", path, pictures->count(),
        labels_path, labels.size());
  for (std::int64_t i = 0; i < pictures->count(); ++i)
    collector.Add({.path = path, .idx = pictures, .index = i}, std::to_string(labels[static_cast<std::size_t>(i)]),
                  labels_path);
}

}  // namespace

bool IsTsv(std::string_view path) { return path.ends_with(".tsv") || path.ends_with(".tsv.gz"); }

std::string PathOfRecord(const JsonView& record) {
  return TextOf(OneOf(record, {"path", "file_name", "image", "file"}));
}

std::string PictureOfTable(const std::string& table, const std::string& file, const std::string& place) {
  Check(!file.empty(), "{}: the path of the picture is missing", place);
  const fs::path beside = fs::path(table).parent_path() / file;  // `file` itself where it is absolute
  std::error_code ignored;
  Check(fs::exists(beside, ignored), "{}: {}: no such file", place, beside.string());
  return beside.string();
}

PictureList ListLabelledPictures(const std::vector<std::string>& paths, std::vector<std::string>& labels,
                                 NewLabels rule) {
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
            "{}: an IDX file of pictures must be followed by that of their classes", path);
      AddIdx(path, paths[++i], collector);
    } else {
      Fail(
          "{}: pictures and their classes are a folder with a folder for each class, a .csv, .tsv or .jsonl file, or "
          "two IDX files",
          path);
    }
    Check(collector.list.sources.size() > before, "{}: there is no picture in it", path);
  }
  if (rule == NewLabels::added) Renumber(SortLabels(labels), collector.list.labels);
  return std::move(collector.list);
}

std::vector<PictureSource> ListUnlabelledPictures(const std::vector<std::string>& sources) {
  std::vector<PictureSource> all;
  for (const std::string& source : sources) {
    std::error_code ignored;
    if (!IsTable(source) || fs::is_directory(source, ignored)) {
      for (PictureSource& one : ListPictures({&source, 1})) all.push_back(std::move(one));
      continue;
    }
    const std::size_t before = all.size();
    ReadTable(source, /*labelled=*/false,
              [&](const std::string& file, const std::string&, const std::string&) { all.push_back({.path = file}); });
    Check(all.size() > before, "{}: there is no picture in it", source);
  }
  return all;
}

namespace {

// Throws what is wrong with pictures, of at most five of them.
void FailWith(const std::vector<std::string>& errors) {
  constexpr std::size_t most = 5;
  if (errors.empty()) return;
  std::string all = errors.front();
  for (std::size_t i = 1; i < std::min(most, errors.size()); ++i) all += "; " + errors[i];
  if (errors.size() > most) all += fmt::format("; {} more pictures cannot be read", errors.size() - most);
  Fail("{}", all);
}

}  // namespace

PictureSet::PictureSet(PictureList list, DecodeBytes decode, const TextShare& share, std::int64_t memory,
                       std::vector<std::string>* skipped)
    : decode_(std::move(decode)) {
  const bool labelled = !list.labels.empty();
  const auto count = list.sources.size();
  std::vector<std::uint64_t> hashes(count);
  std::vector<std::uint8_t> ours(count);
  std::vector<Picture> kept(count);
  std::vector<std::string> errors(count);
  std::atomic<std::int64_t> bytes = 0;
  ParallelFor(static_cast<std::int64_t>(count), [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    const PictureSource& source = list.sources[i];
    const auto belongs = [&](std::string_view content) {
      hashes[i] = HashOf(content);
      ours[i] = share.Has({reinterpret_cast<const char*>(&hashes[i]), sizeof(hashes[i])}) ? 1 : 0;
      return ours[i] != 0;
    };
    if (source.idx) {  // has its bytes in memory
      const Picture picture = (*source.idx)[source.index];
      belongs({reinterpret_cast<const char*>(picture.pixels.data()), picture.pixels.size()});
      return;
    }
    try {
      const MappedFile file(source.path);
      if (!belongs(file.text()) || (bytes >= memory && skipped == nullptr)) return;
      Picture picture = decode_(file.bytes(), source.path);
      const auto size = static_cast<std::int64_t>(picture.pixels.size());
      if (bytes.fetch_add(size) + size <= memory) kept[i] = std::move(picture);
    } catch (const Error& error) {
      if (error.blame() != Blame::user) throw;
      errors[i] = error.what();
      ours[i] = 0;
    }
  });
  std::erase(errors, "");
  if (skipped == nullptr) FailWith(errors);
  if (skipped != nullptr) *skipped = std::move(errors);
  Hash64 hash;
  for (std::size_t i = 0; i < count; ++i) {
    if (ours[i] == 0) continue;
    const std::uint64_t parts[] = {hashes[i], labelled ? static_cast<std::uint64_t>(list.labels[i]) : 0};
    hash.Update({reinterpret_cast<const char*>(parts), sizeof(parts)});
    list_.sources.push_back(std::move(list.sources[i]));
    if (labelled) list_.labels.push_back(list.labels[i]);
    kept_.push_back(std::move(kept[i]));
  }
  hash_ = hash.value();
}

Picture PictureSet::operator[](std::int64_t picture) const {
  const auto i = static_cast<std::size_t>(picture);
  if (!kept_[i].pixels.empty()) return kept_[i];
  const PictureSource& source = list_.sources[i];
  if (source.idx) return (*source.idx)[source.index];
  return decode_(MappedFile(source.path).bytes(), source.path);
}

}  // namespace headlight
