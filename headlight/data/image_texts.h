// Training images with texts that describe them.
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
  std::vector<std::vector<std::string>> texts;  ///< at least one per image
  /// For each text, a hard negative (a similar text that is wrong for the image), or an empty string.
  std::vector<std::vector<std::string>> hard_negatives;
};

/// Lists the images of `paths` with their texts. Each path is one of
/// - .tsv (optionally .gz): lines of a path, a tab and a text;
/// - .csv or .jsonl (optionally .gz): records of "path" (or "file_name", "image", "file") and "text" (or "caption",
///   "captions", "texts"). In JSON, there can be one text or an array of texts, and optionally an array of equally many
///   "hard_negatives". Paths are relative to the file's folder, and all rows with the same path describe one image;
/// - .json: COCO's captions (images, annotations). An image is searched for in `folders`, then next to the file. Images
///   without a caption are left out;
/// - a folder of images, at any depth. Next to each image is a .txt file of the same name, with one text per line.
/// Throws Error naming the file and the line or key for other content, for an empty text, and if there is no image.
HEADLIGHT_API ImageTextList ListImageTexts(const std::vector<std::string>& paths,
                                           const std::vector<std::string>& folders = {});

/// The images and texts of a list. All methods are thread-safe.
class HEADLIGHT_API ImageTextSet {
 public:
  /// Constructs the set like ImageSet: reads all files once, and `share` selects images by the hashes of their files.
  ImageTextSet(ImageTextList list, DecodeBytes decode, const TextShare& share = {},
               std::int64_t memory = ImageSet::kMemory, std::vector<std::string>* skipped = nullptr);

  std::int64_t size() const { return images_.size(); }
  std::int64_t text_count() const;  ///< number of texts of all images
  const std::vector<std::string>& texts(std::int64_t image) const {
    return texts_[static_cast<std::size_t>(images_.label(image))];
  }
  const std::vector<std::string>& hard_negatives(std::int64_t image) const {
    return hard_negatives_[static_cast<std::size_t>(images_.label(image))];
  }
  std::string name(std::int64_t image) const { return images_.name(image); }
  Image operator[](std::int64_t image) const { return images_[image]; }
  std::uint64_t hash() const;  ///< hash of the image files and the texts, in order

 private:
  std::vector<std::vector<std::string>> texts_, hard_negatives_;
  ImageSet images_;  // labels are indices in texts_
};

}  // namespace headlight
