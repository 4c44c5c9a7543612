// Training images, optionally with one class each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
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
  std::vector<std::int32_t> labels;  ///< one per image; empty if the images have no labels
};

/// Lists the images of `paths` with their classes. Each path, or pair of paths, is one of
/// - a folder with one subfolder per class, named after the class, with images at any depth;
/// - .csv or .jsonl (optionally .gz): records of "path" (or "file_name", "image", "file") and "label" (or "class");
/// - .tsv (optionally .gz): lines of a path, a tab and a class, or records if the first line is a header;
/// - an IDX file of images, followed by the IDX file of their class indices.
/// Paths in tables are relative to the file's folder. `rule` says if new labels are added or refused. Added labels are
/// sorted (SortLabels). Throws Error naming the file and line for other content, and if there is no image.
HEADLIGHT_API ImageList ListLabeledImages(const std::vector<std::string>& paths, std::vector<std::string>& labels,
                                          NewLabels rule);

/// Lists the images of all sources in order: the images of ListImages, and the images of .csv, .jsonl and .tsv files as
/// in ListLabeledImages. Classes in tables are optional and ignored.
HEADLIGHT_API std::vector<ImageSource> ListUnlabeledImages(const std::vector<std::string>& sources);

/// Functions for tables with other columns. IsTsv returns true if a name ends in .tsv or .tsv.gz. PathOfRecord returns
/// the path in a record. ImageOfTable returns the path of a row's image, which must exist, and begins error messages
/// with `location`.
bool IsTsv(std::string_view path);
inline constexpr std::initializer_list<const char*> kImageNames = {"path", "file_name", "image", "file"};
std::string PathOfRecord(const JsonView& record);
std::string ImageOfTable(const std::string& table, const std::string& file, const std::string& location);

/// A function that decodes an image from a file's bytes, such as DecodeImage of image/decoding/decode.h. Error messages
/// begin with `name`.
using DecodeBytes = std::function<Image(std::span<const std::byte> file, const std::string& name)>;

/// The images of a list. All methods are thread-safe.
class HEADLIGHT_API ImageSet {
 public:
  /// Limit on the bytes of decoded images in memory. Other images are decoded on every access.
  static constexpr std::int64_t kMemory = std::int64_t{1} << 30;

  /// Reads all files once, to compute their hash and to select the images of `share`. The selection does not depend on
  /// folders and names. Throws Error naming the files that are missing or, if selected, damaged. If `skipped` is given,
  /// these files are omitted, and `skipped` receives their errors. All selected files are then decoded once.
  ImageSet(ImageList list, DecodeBytes decode, const TextShare& share = {}, std::int64_t memory = kMemory,
           std::vector<std::string>* skipped = nullptr);

  std::int64_t size() const { return static_cast<std::int64_t>(list_.sources.size()); }
  /// Returns the index of the class. Only for sets with classes.
  std::int32_t label(std::int64_t image) const { return list_.labels[static_cast<std::size_t>(image)]; }
  bool labeled() const { return !list_.labels.empty(); }
  std::string name(std::int64_t image) const { return list_.sources[static_cast<std::size_t>(image)].name(); }
  Image operator[](std::int64_t image) const;
  std::uint64_t hash() const { return hash_; }  ///< hash of the image files and the labels, in order

 private:
  ImageList list_;
  DecodeBytes decode_;
  std::vector<Image> kept_;  // [images]; empty if not in memory
  std::uint64_t hash_ = 0;
};

}  // namespace headlight
