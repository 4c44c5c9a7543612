// Lists the sources of images: files, folders, patterns, IDX files and standard input.
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

/// An image that has not been read yet. ReadImage of image/decoding/decode.h reads it.
struct ImageSource {
  std::string path;  ///< the path of the file; - is standard input
  /// The IDX file, shared by all of its images, and the image's index from 0. Null for other files.
  std::shared_ptr<const IdxImages> idx = {};
  std::int64_t index = 0;

  /// Returns the path. For an image of an IDX file, appends # and the number from 1: "t10k-images-idx3-ubyte.gz#7".
  HEADLIGHT_API std::string name() const;
};

/// Returns true if a file name has an extension of JPEG, PNG, WebP, BMP, GIF or TIFF files, in lower or upper case.
HEADLIGHT_API bool IsImagePath(std::string_view path);

/// Returns true if a file name has an extension of an unsupported image format, such as .heic, .avif or .svg.
HEADLIGHT_API bool IsUnsupportedImagePath(std::string_view path);

/// Returns the image files in a folder and its subfolders, sorted by the bytes of their paths. Hidden files and
/// folders, whose names begin with a dot, are skipped, and links to folders are not followed. Throws Error if there are
/// no images.
HEADLIGHT_API std::vector<std::string> ImageFilesIn(const std::string& folder);

/// Returns the number of files with unsupported image formats in the folders among `sources` and their subfolders.
HEADLIGHT_API std::int64_t CountUnsupportedImages(std::span<const std::string> sources);

/// Returns the images of all sources, in order. A folder selects the files of ImageFilesIn, and an IDX file selects all
/// of its images. The name() of an image in an IDX file selects only that image. "-" is standard input and may occur
/// only once. A pattern (* ? [...]) that is not a file's name selects all matching files, sorted by name. Throws Error
/// naming a source that does not exist or has no images.
HEADLIGHT_API std::vector<ImageSource> ListImages(std::span<const std::string> sources);

}  // namespace headlight
