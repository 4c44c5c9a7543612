// The sources of images: files, folders, patterns, IDX files and standard input.
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

/// An image that has not been read yet: ReadImage of image/decoding/decode.h reads it.
struct ImageSource {
  std::string path;  // of its file; - is standard input
  /// For IDX files, shared by the images of a file; and the image's index, from 0.
  std::shared_ptr<const IdxImages> idx = {};
  std::int64_t index = 0;

  /// The path, followed for IDX files by # and the number from 1: "t10k-images-idx3-ubyte.gz#7".
  HEADLIGHT_API std::string name() const;
};

/// True if a file name has an extension of JPEG, PNG, WebP, BMP, GIF or TIFF files, in lower or upper case.
HEADLIGHT_API bool IsImagePath(std::string_view path);

/// True if it has an extension of an unsupported image format, such as .heic, .avif or .svg.
HEADLIGHT_API bool IsUnreadImagePath(std::string_view path);

/// The image files below a folder, at any depth, sorted by the bytes of their paths. Hidden files and folders, whose
/// names begin with a dot, are skipped, and links to folders are not followed. Throws Error if there is none.
HEADLIGHT_API std::vector<std::string> ImageFilesIn(const std::string& folder);

/// The number of files of unsupported image formats below these folders.
HEADLIGHT_API std::int64_t CountOtherImages(std::span<const std::string> sources);

/// The images of all sources, in order. A folder means the files of ImageFilesIn, an IDX file each of its images, and a
/// name() that image. "-" is standard input, at most once. A pattern (* ? [...]) that is not a file's name means all
/// matching files, sorted by name. Throws Error naming a source that does not exist or has no images.
HEADLIGHT_API std::vector<ImageSource> ListImages(std::span<const std::string> sources);

}  // namespace headlight
