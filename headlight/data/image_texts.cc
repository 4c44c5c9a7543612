#include "headlight/data/image_texts.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/base/json.h"
#include "headlight/data/coco.h"
#include "headlight/data/lines.h"
#include "headlight/data/records.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::initializer_list<const char*> kTexts = {"text", "caption", "captions", "texts"};

// Collects the images of one path in the order of first appearance.
class TextCollector {
 public:
  explicit TextCollector(ImageTextList& list) : list_(list) {}

  void Add(const std::string& image, std::string text, const std::string& location, std::string hard_negative = "") {
    Check(text.find_first_not_of(" \t") != std::string::npos, "{}: the text is empty", location);
    const auto [entry, first] = index_of_.emplace(image, list_.sources.size());
    if (first) {
      list_.sources.push_back({.path = image});
      list_.texts.emplace_back();
      list_.hard_negatives.emplace_back();
    }
    list_.texts[entry->second].push_back(std::move(text));
    list_.hard_negatives[entry->second].push_back(std::move(hard_negative));
  }

 private:
  ImageTextList& list_;
  std::map<std::string, std::size_t> index_of_;
};

void AddTsv(const std::string& path, TextCollector& collector) {
  LineReader lines(path);
  while (const auto line = lines.Next()) {
    if (line->empty()) continue;
    const std::string location = fmt::format("{}:{}", path, lines.line_number());
    const std::size_t tab = line->find('\t');
    Check(tab != std::string_view::npos && tab == line->rfind('\t'),
          "{}: expected the path of an image, a tab and its text", location);
    collector.Add(ImageOfTable(path, std::string(line->substr(0, tab)), location), std::string(line->substr(tab + 1)),
                  location);
  }
}

// Returns the strings of an array, or a single string as a list.
std::vector<std::string> OneOrMore(const JsonView& json) {
  return json.value().As<Json::Array>() == nullptr ? std::vector{TextOf(json)} : TextsOf(json);
}

void AddRecords(const std::string& path, Records records, TextCollector& collector) {
  while (const auto record = records.Next()) {
    const std::string image = ImageOfTable(path, PathOfRecord(*record), record->location());
    const JsonView text = OneOf(*record, kTexts);
    std::vector<std::string> texts = OneOrMore(text), misses(texts.size());
    Check(!texts.empty(), "{}: there is no text", text.location());
    Check(record->value().Find("near_misses") == nullptr, "{}: key 'near_misses': it is now called 'hard_negatives'",
          record->location());
    if (record->value().Find("hard_negatives") != nullptr) {
      const JsonView given = (*record)["hard_negatives"];
      misses = OneOrMore(given);
      Check(misses.size() == texts.size(), "{}: there are {} hard negatives of {} texts", given.location(),
            misses.size(), texts.size());
      for (const std::string& miss : misses)
        Check(miss.find_first_not_of(" \t") != std::string::npos, "{}: the text is empty", given.location());
    }
    for (std::size_t i = 0; i < texts.size(); ++i)
      collector.Add(image, std::move(texts[i]), text.location(), std::move(misses[i]));
  }
}

void AddCoco(const std::string& path, const std::vector<std::string>& folders, ImageTextList& list) {
  const JsonView file = ReadJson(path, kCocoLimits);
  const CocoImages coco = ReadCocoImages(file, path, folders);
  std::vector<std::vector<std::string>> texts(coco.images.size());
  for (const JsonView& annotation : file["annotations"].Items()) {
    const JsonView caption = annotation["caption"];
    std::string text = TextOf(caption);
    Check(text.find_first_not_of(" \t\n") != std::string::npos, "{}: the text is empty", caption.location());
    texts[coco.IndexOf(annotation)].push_back(std::move(text));
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    list.sources.push_back({.path = coco.images[i].path});
    list.hard_negatives.emplace_back(texts[i].size());
    list.texts.push_back(std::move(texts[i]));
  }
}

void AddFolder(const std::string& folder, TextCollector& collector) {
  for (const std::string& image : ImageFilesIn(folder)) {
    const std::string beside = fs::path(image).replace_extension(".txt").string();
    std::error_code ignored;
    Check(fs::exists(beside, ignored), "{}: there is no {} next to it, which must have its texts", image, beside);
    LineReader lines(beside);
    bool any = false;
    while (const auto line = lines.Next()) {
      if (line->empty()) continue;
      collector.Add(image, std::string(*line), fmt::format("{}:{}", beside, lines.line_number()));
      any = true;
    }
    Check(any, "{}: there is no text in it", beside);
  }
}

}  // namespace

ImageTextList ListImageTexts(const std::vector<std::string>& paths, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) Check(fs::is_directory(folder), "{}: there is no such folder", folder);
  const auto is_header = [](const std::vector<std::string>& line) {
    return HasAny(line, kImageNames) && HasAny(line, kTexts);
  };
  ImageTextList list;
  for (const std::string& path : paths) {
    const std::size_t before = list.sources.size();
    std::error_code ignored;
    Check(fs::exists(path, ignored), "{}: no such file or folder", path);
    TextCollector collector(list);
    if (fs::is_directory(path, ignored)) {
      AddFolder(path, collector);
    } else if (IsJson(path)) {
      AddCoco(path, folders, list);
    } else if (std::optional<Records> records = RecordsOf(path, is_header)) {
      AddRecords(path, *std::move(records), collector);
    } else if (IsTsv(path)) {
      AddTsv(path, collector);
    } else {
      Fail(
          "{}: images and their texts are a .tsv, .csv or .jsonl file, COCO's captions in a .json file, or a folder "
          "with a .txt file next to each image",
          path);
    }
    Check(list.sources.size() > before, "{}: there is no image with a text in it", path);
  }
  return list;
}

ImageTextSet::ImageTextSet(ImageTextList list, DecodeBytes decode, const TextShare& share, std::int64_t memory,
                           std::vector<std::string>* skipped)
    : texts_(std::move(list.texts)),
      hard_negatives_(std::move(list.hard_negatives)),
      images_(
          [&] {
            ImageList images{.sources = std::move(list.sources), .labels = {}};
            images.labels.resize(images.sources.size());
            std::iota(images.labels.begin(), images.labels.end(), 0);
            return images;
          }(),
          std::move(decode), share, memory, skipped) {}

std::int64_t ImageTextSet::text_count() const {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < size(); ++i) count += std::ssize(texts(i));
  return count;
}

std::uint64_t ImageTextSet::hash() const {
  Hash64 hash(images_.hash());
  for (std::int64_t image = 0; image < size(); ++image)
    for (std::size_t i = 0; i < texts(image).size(); ++i) {
      hash.Update(texts(image)[i]);
      if (const std::string& miss = hard_negatives(image)[i]; !miss.empty()) {
        hash.Update(std::string_view("\0\2", 2));
        hash.Update(miss);
      }
      // The separator after the last text of an image differs, so that moving a text to another image changes the hash.
      hash.Update(i + 1 == texts(image).size() ? std::string_view("\0\1", 2) : std::string_view("\0", 1));
    }
  return hash.value();
}

}  // namespace headlight
