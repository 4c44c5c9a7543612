#include "headlight/image/idx.h"

#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr std::uint8_t kUnsignedBytes = 0x08;
constexpr int kMostAxes = 4;
constexpr std::int64_t kMostPerCompressedByte = 1032;  // the maximum compression ratio of deflate

// Reads the bytes of a plain or gzip file.
class Bytes {
 public:
  explicit Bytes(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    Check(file_ != nullptr, "{}: it cannot be opened", path);
  }

  void Read(std::uint8_t* to, std::int64_t count) {
    while (count > 0) {
      const int got = gzread(file_.get(), to, static_cast<unsigned>(std::min<std::int64_t>(count, 1 << 30)));
      Check(got > 0, "{}: the IDX file is damaged or ends early", path_);
      to += got;
      count -= got;
    }
  }
  bool AtEnd() {
    std::uint8_t next = 0;
    const int got = gzread(file_.get(), &next, 1);
    int error = Z_OK;  // not Z_OK if the end of the compressed data is missing
    gzerror(file_.get(), &error);
    Check(got >= 0 && error == Z_OK, "{}: the IDX file is damaged or ends early", path_);
    return got == 0;
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  const std::string& path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

std::string Axes(const IdxArray& array) { return fmt::format("[{}]", fmt::join(array.shape, ", ")); }

}  // namespace

IdxArray ReadIdx(const std::string& path, std::int64_t most_bytes) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  Check(!error, "{}: {}", path, error.message());
  Bytes bytes(path);
  std::uint8_t start[4];
  bytes.Read(start, 4);
  Check(start[0] == 0 && start[1] == 0, "{}: not an IDX file", path);
  Check(start[2] == kUnsignedBytes, "{}: an IDX file of type {:#04x}; only unsigned bytes (0x08) are supported", path,
        start[2]);
  Check(start[3] >= 1 && start[3] <= kMostAxes, "{}: an IDX file with {} axes; from 1 to {} are supported", path,
        start[3], kMostAxes);
  IdxArray array;
  std::int64_t count = 1;
  for (int axis = 0; axis < start[3]; ++axis) {
    std::uint8_t length[4];
    bytes.Read(length, 4);
    array.shape.push_back(std::int64_t{length[0]} << 24 | length[1] << 16 | length[2] << 8 | length[3]);
    Check(array.shape.back() > 0, "{}: an IDX file with an axis of 0", path);
    Check(count <= most_bytes / array.shape.back(), "{}: an IDX file with the axes {} has more than {} bytes", path,
          Axes(array), most_bytes);
    count *= array.shape.back();
  }
  Check(count / kMostPerCompressedByte <= static_cast<std::int64_t>(size),
        "{}: an IDX file with the axes {} does not fit in {} bytes", path, Axes(array), size);
  array.values.resize(static_cast<std::size_t>(count));
  bytes.Read(array.values.data(), count);
  Check(bytes.AtEnd(), "{}: an IDX file with the axes {} has data after its last value", path, Axes(array));
  return array;
}

bool IsIdxPath(std::string_view path) {
  constexpr std::string_view gzip = ".gz", end = "-ubyte";
  if (path.ends_with(gzip)) path.remove_suffix(gzip.size());
  if (!path.ends_with(end)) return false;
  path.remove_suffix(end.size());
  if (path.size() < 5 || path.back() < '1' || path.back() > '9') return false;
  path.remove_suffix(1);
  return path.ends_with("-idx") || path.ends_with(".idx");
}

IdxImages::IdxImages(const std::string& path, std::int64_t most_bytes) : array_(ReadIdx(path, most_bytes)) {
  const std::vector<std::int64_t>& shape = array_.shape;
  Check(shape.size() == 3 || (shape.size() == 4 && shape[3] == 3),
        "{}: an IDX file with the axes {}; images have [images, height, width] or [images, height, width, 3]", path,
        Axes(array_));
}

Image IdxImages::operator[](std::int64_t index) const {
  Ensure(index >= 0 && index < count(), "image {} is out of range for {}", index, count());
  Image image{.height = height(), .width = width()};
  const std::int64_t pixels = image.height * image.width;
  if (array_.shape.size() == 4) {
    const auto begin = array_.values.begin() + index * pixels * 3;
    image.pixels.assign(begin, begin + pixels * 3);
    return image;
  }
  image.pixels.reserve(static_cast<std::size_t>(pixels * 3));
  const std::uint8_t* const gray = array_.values.data() + index * pixels;
  for (std::int64_t i = 0; i < pixels; ++i) image.pixels.insert(image.pixels.end(), 3, gray[i]);
  return image;
}

std::vector<std::uint8_t> ReadIdxLabels(const std::string& path) {
  IdxArray array = ReadIdx(path);
  Check(array.shape.size() == 1, "{}: an IDX file with the axes {}; labels have one", path, Axes(array));
  return std::move(array.values);
}

}  // namespace headlight
