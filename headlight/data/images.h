// Sets of images, perhaps with a class of each, to learn from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/data/labels.h"
#include "headlight/data/text_share.h"
#include "headlight/image/image.h"
#include "headlight/image/image_files.h"

namespace headlight {

struct ImageList {
  std::vector<ImageSource> sources;
  std::vector<std::int32_t> labels;  // of each; empty where they have none
};

// The images of `paths` with their classes, of which each path, or pair of paths, is one of
// - a folder with a folder for each class, named so, of images (at any depth);
// - .csv or .jsonl (perhaps .gz): records of "path" (or "file_name", "image", "file") and "label" (or "class"), or
//   .tsv: lines of a path, a tab and a class. Paths are relative to the file's folder;
// - an IDX file of images, and behind it that of their classes' numbers.
// Labels are added, or refused, as `rule` says; where they are added all are put in order (SortLabels). Throws Error
// naming the file and line for what is not that, and where there is no image.
HEADLIGHT_API ImageList ListLabelledImages(const std::vector<std::string>& paths, std::vector<std::string>& labels,
                                           NewLabels rule);

// The images of all sources, in their order: as ListImages has them, and those of .csv, .jsonl and .tsv files as
// above, whose classes may be missing and are not read.
HEADLIGHT_API std::vector<ImageSource> ListUnlabelledImages(const std::vector<std::string>& sources);

// Parts of the above, for tables that have other columns too: true for names that end in .tsv or .tsv.gz, the path
// that a record has, and the image of a table's row, which must be there; errors begin with `place`.
bool IsTsv(std::string_view path);
std::string PathOfRecord(const JsonView& record);
std::string ImageOfTable(const std::string& table, const std::string& file, const std::string& place);

// An image from a file's bytes; its errors begin with `name`. DecodeImage of image/decoding/decode.h is one.
using DecodeBytes = std::function<Image(std::span<const std::byte> file, const std::string& name)>;

// A list's images, from any number of threads at once.
class HEADLIGHT_API ImageSet {
 public:
  // Bytes of decoded images that are kept; those of others are decoded again whenever they are asked for.
  static constexpr std::int64_t kMemory = std::int64_t{1} << 30;

  // Reads all files once, to know their hash and which of them belong to the share: an image belongs to the same one
  // in any folder and under any name. Throws Error naming the files that are missing or, among those that are
  // kept, damaged. With `skipped` these are left out, each with its error there; then all files are decoded once.
  ImageSet(ImageList list, DecodeBytes decode, const TextShare& share = {}, std::int64_t memory = kMemory,
           std::vector<std::string>* skipped = nullptr);

  std::int64_t size() const { return static_cast<std::int64_t>(list_.sources.size()); }
  // The class's number; the set must have them.
  std::int32_t label(std::int64_t image) const { return list_.labels[static_cast<std::size_t>(image)]; }
  bool labelled() const { return !list_.labels.empty(); }
  std::string name(std::int64_t image) const { return list_.sources[static_cast<std::size_t>(image)].name(); }
  Image operator[](std::int64_t image) const;
  std::uint64_t hash() const { return hash_; }  // of the files' contents and the labels, in order

 private:
  ImageList list_;
  DecodeBytes decode_;
  std::vector<Image> kept_;  // [images]; empty where not kept
  std::uint64_t hash_ = 0;
};

}  // namespace headlight
