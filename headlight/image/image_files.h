// Where images come from: files, folders of them, patterns, IDX files and standard input.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/idx.h"

namespace headlight {

// One image, not yet read: ReadImage of image/decoding/decode.h reads it.
struct ImageSource {
  std::string path;  // of its file; - is standard input
  // Where the file is an IDX file, shared by its images: which of them it is, from 0.
  std::shared_ptr<const IdxImages> idx = {};
  std::int64_t index = 0;

  // The path, with # and the number from 1 behind that of an IDX file: "t10k-images-idx3-ubyte.gz#7".
  HEADLIGHT_API std::string name() const;
};

// True if a file's name ends as those of JPEG, PNG, WebP, BMP, GIF and TIFF do, in small letters or capitals.
HEADLIGHT_API bool IsImagePath(std::string_view path);

// True if it ends as those of images in formats that are not read do, such as .heic, .avif and .svg.
HEADLIGHT_API bool IsUnreadImagePath(std::string_view path);

// The files below a folder whose names end so, at any depth, in the order of their paths' bytes. Hidden files and
// folders, whose names begin with a dot, are left out; a link to a folder is not followed. Throws Error where there is
// none.
HEADLIGHT_API std::vector<std::string> ImageFilesIn(const std::string& folder);

// How many files below these folders are such.
HEADLIGHT_API std::int64_t CountOtherImages(std::span<const std::string> sources);

// The images of all sources, in their order: of a folder those of ImageFilesIn, of an IDX file each of its
// images, of one's name() that image, of a pattern (* ? [...]) that is no file's name whatever matches it, in the
// order of their names, and - once. Throws Error naming a source that is not there, or that has none.
HEADLIGHT_API std::vector<ImageSource> ListImages(std::span<const std::string> sources);

}  // namespace headlight
