#include "headlight/io/npz.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/io/zip.h"

namespace headlight {
namespace {

using Bytes = std::span<const std::byte>;

bool Has(Bytes bytes, std::string_view signature) { return TextOf(bytes).starts_with(signature); }

std::string ArrayName(const ZipEntry& entry) {
  constexpr std::string_view kEnding = ".npy";
  Check(entry.name.ends_with(kEnding), "{}: is not a {} file; the archive must not contain others", entry.location,
        kEnding);
  return entry.name.substr(0, entry.name.size() - kEnding.size());
}

std::vector<std::byte> Inflate(Bytes compressed, std::size_t size, const std::string& location) {
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  Check(size <= kMost && compressed.size() <= kMost, "{}: compressed arrays of 4 GiB or more are not read", location);
  // Deflate expands each byte to at most 1,032 bytes.
  Check(size / 1032 <= compressed.size(), "{}: {} bytes cannot hold {}", location, compressed.size(), size);
  std::vector<std::byte> inflated(size);
  z_stream stream = {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  stream.next_out = reinterpret_cast<Bytef*>(inflated.data());
  stream.avail_out = static_cast<uInt>(size);
  Check(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "{}: there is not enough memory to inflate it", location);
  const int result = inflate(&stream, Z_FINISH);
  const std::size_t made = size - stream.avail_out;
  inflateEnd(&stream);
  Check(result == Z_STREAM_END && made == size && stream.avail_in == 0,
        "{}: its compressed bytes are damaged, or do not expand to {} bytes as in the archive's directory", location,
        size);
  return inflated;
}

// Parses the dictionary in an .npy file's header, which is a Python literal such as
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& location) : rest_(text), place_(location) {}

  Shape Parse() {
    std::set<std::string_view> seen;
    std::vector<std::int64_t> axes;
    Take("{");
    while (!Takes("}")) {
      const std::string_view key = Quoted();
      Check(seen.insert(key).second, "{}: its header has {} twice", place_, key);
      Take(":");
      if (key == "descr") {
        const std::string_view type = Quoted();
        Check(type == "<f4", "{}: holds {}; only little-endian float32, <f4, is supported", place_,
              headlight::Quoted(type));
      } else if (key == "fortran_order") {
        Check(Takes("False"), "{}: is not in C order (row-major), the only supported order", place_);
      } else if (key == "shape") {
        axes = Axes();
      } else {
        Fail("{}: its header has the unknown key {}", place_, headlight::Quoted(key));
      }
      if (Takes(",")) continue;
      Take("}");
      break;
    }
    Skip();
    Check(rest_.empty() && seen.size() == 3, "{}: its header is not a dictionary of descr, fortran_order and shape",
          place_);
    return Shape(axes);
  }

 private:
  void Skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  bool Takes(std::string_view token) {
    Skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void Take(std::string_view token) {
    Check(Takes(token), "{}: its header is damaged: found {} instead of {}", place_,
          headlight::Quoted(rest_.substr(0, 20)), token);
  }
  std::string_view Quoted() {
    Take("'");
    const std::size_t end = rest_.find('\'');
    Check(end != std::string_view::npos, "{}: its header is damaged: unterminated string", place_);
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::vector<std::int64_t> Axes() {
    std::vector<std::int64_t> axes;
    std::int64_t elements = 1;
    Take("(");
    while (!Takes(")")) {
      Skip();
      std::int64_t axis = 0;
      bool any = false;
      for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; rest_.remove_prefix(1), any = true) {
        Check(axis <= (std::int64_t{1} << 40), "{}: its shape is too large", place_);
        axis = 10 * axis + (rest_.front() - '0');
      }
      // Bounds each axis, so that the product cannot overflow.
      constexpr std::int64_t kMost = std::int64_t{1} << 40;
      Check(axis <= kMost && (axis == 0 || elements <= kMost / axis), "{}: its shape is too large", place_);
      elements *= std::max<std::int64_t>(axis, 1);
      Check(any, "{}: its header is damaged: found {} instead of an axis", place_,
            headlight::Quoted(rest_.substr(0, 20)));
      axes.push_back(axis);
      Check(axes.size() <= 8, "{}: its shape has more than 8 axes", place_);
      if (Takes(",")) continue;
      Take(")");
      break;
    }
    return axes;
  }

  std::string_view rest_;
  const std::string& place_;
};

StoredTensor ParseNpy(Bytes npy, std::string name, const std::string& location) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  Check(Has(npy, kMagic) && npy.size() >= 12, "{}: is not an .npy file", location);
  const std::uint64_t version = LittleEndian(npy, 6, 1);
  Check(version >= 1 && version <= 3, "{}: has format version {}; 1 to 3 are supported", location, version);
  const std::size_t begin = version == 1 ? 10 : 12, length = LittleEndian(npy, 8, version == 1 ? 2 : 4);
  Check(npy.size() - begin >= length, "{}: its header, {} bytes, is cut off", location, length);
  const Shape shape = HeaderParser(TextOf(npy.subspan(begin, length)), location).Parse();
  const Bytes numbers = npy.subspan(begin + length);
  Check(static_cast<std::uint64_t>(shape.elements()) == numbers.size() / sizeof(float) &&
            numbers.size() % sizeof(float) == 0,
        "{}: {} bytes of data do not fit shape {} of {} elements", location, numbers.size(), ToString(shape),
        shape.elements());
  return {std::move(name), StoredType::f32, shape, numbers};
}

}  // namespace

std::vector<std::string> NamesInNpz(const std::string& path) {
  const MappedFile file(path);
  std::vector<std::string> names;
  for (const ZipEntry& entry : ReadZip(file.bytes(), path)) names.push_back(ArrayName(entry));
  return names;
}

NpzContent ParseNpz(std::span<const std::byte> file, const std::string& source) {
  NpzContent content;
  for (const ZipEntry& entry : ReadZip(file, source)) {
    std::string name = ArrayName(entry);
    Check(entry.method == 0 || entry.method == 8, "{}: is compressed with method {}; 0 and 8 are supported",
          entry.location, entry.method);
    Bytes bytes = entry.bytes;
    if (entry.method == 8) bytes = content.inflated.emplace_back(Inflate(bytes, entry.size, entry.location));
    Check(bytes.size() == entry.size, "{}: has {} bytes instead of {} as in the archive's directory", entry.location,
          bytes.size(), entry.size);
    CheckZipChecksum(entry, bytes);
    content.tensors.push_back(ParseNpy(bytes, std::move(name), entry.location));
  }
  return content;
}

Safetensors ReadNpz(const std::string& path) {
  struct Held {
    MappedFile file;
    NpzContent content;
  };
  const auto held = std::make_shared<Held>(Held{MappedFile(path), {}});
  held->content = ParseNpz(held->file.bytes(), path);
  return Safetensors::Of(path, held->content.tensors, held);
}

}  // namespace headlight
