// Sets of images with texts that tell of them, to learn from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/images.h"
#include "headlight/data/text_share.h"
#include "headlight/image/image_files.h"

namespace headlight {

struct ImageTextList {
  std::vector<ImageSource> sources;
  std::vector<std::vector<std::string>> texts;  // of each, at least one
  // Of each text one that is nearly the same and not true of the image; empty where there is none.
  std::vector<std::vector<std::string>> near_misses;
};

// The images of `paths` with their texts, of which each path is one of
// - .tsv (perhaps .gz): lines of a path, a tab and a text;
// - .csv or .jsonl (perhaps .gz): records of "path" (or "file_name", "image", "file") and "text" (or "caption",
//   "captions", "texts"), in JSON one or an array of them, and perhaps "near_misses", as many. Paths are relative to
//   the file's folder, and rows of one image, by its path, give it several texts, wherever they stand;
// - .json: COCO's captions (images, annotations). An image is looked for in `folders`, then beside the file; one
//   without a caption is left out;
// - a folder of images, at any depth, each with a file of the same name in .txt beside it, a text a line.
// Throws Error naming the file and the line or key for what is not that, for a text that is empty, and where there is
// no image.
HEADLIGHT_API ImageTextList ListImageTexts(const std::vector<std::string>& paths,
                                           const std::vector<std::string>& folders = {});

// A list's images and texts, from any number of threads at once.
class HEADLIGHT_API ImageTextSet {
 public:
  // As ImageSet, which reads all files once: the share is chosen by the images' contents.
  ImageTextSet(ImageTextList list, DecodeBytes decode, const TextShare& share = {},
               std::int64_t memory = ImageSet::kMemory, std::vector<std::string>* skipped = nullptr);

  std::int64_t size() const { return images_.size(); }
  std::int64_t text_count() const;  // of all images
  const std::vector<std::string>& texts(std::int64_t image) const {
    return texts_[static_cast<std::size_t>(images_.label(image))];
  }
  const std::vector<std::string>& near_misses(std::int64_t image) const {
    return near_misses_[static_cast<std::size_t>(images_.label(image))];
  }
  std::string name(std::int64_t image) const { return images_.name(image); }
  Image operator[](std::int64_t image) const { return images_[image]; }
  std::uint64_t hash() const;  // of the files' contents and the texts, in order

 private:
  std::vector<std::vector<std::string>> texts_, near_misses_;
  ImageSet images_;  // whose labels are indices into texts_
};

}  // namespace headlight
