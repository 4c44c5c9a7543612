#include "headlight/io/npz.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

using Bytes = std::span<const std::byte>;

std::string_view TextOf(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// A little-endian number of `size` bytes, which are there.
std::uint32_t NumberAt(Bytes bytes, std::size_t place, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = size; i-- > 0;) number = number << 8 | static_cast<std::uint32_t>(bytes[place + i]);
  return number;
}

// The records of PKWARE's APPNOTE.TXT, version 6.3.10: sizes without what follows them, and the places of fields.
constexpr std::size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30;
constexpr std::string_view kEndSignature = "PK\x05\x06", kEntrySignature = "PK\x01\x02", kLocalSignature = "PK\x03\x04";

struct Entry {
  std::string name;
  std::uint32_t flags = 0, method = 0, checksum = 0, compressed = 0, size = 0, local = 0;
};

bool Has(Bytes file, std::size_t place, std::string_view signature) {
  return place <= file.size() && file.size() - place >= signature.size() &&
         TextOf(file.subspan(place, signature.size())) == signature;
}

// The archive's directory, whose place is said at its end, before a comment of at most 65,535 bytes.
std::vector<Entry> ReadDirectory(Bytes file, const std::string& source) {
  Check(file.size() >= kEndSize, "{}: {} bytes, which is no zip archive", source, file.size());
  constexpr std::size_t kLongestComment = 0xffff;
  std::optional<std::size_t> end;
  for (std::size_t comment = 0; comment <= std::min(kLongestComment, file.size() - kEndSize) && !end; ++comment) {
    const std::size_t place = file.size() - kEndSize - comment;
    if (Has(file, place, kEndSignature) && NumberAt(file, place + 20, 2) == comment) end = place;
  }
  Check(end.has_value(), "{}: no zip archive, or one that is cut off: its directory's end is missing", source);
  const std::uint32_t count = NumberAt(file, *end + 10, 2), size = NumberAt(file, *end + 12, 4),
                      first = NumberAt(file, *end + 16, 4);
  Check(NumberAt(file, *end + 4, 2) == 0 && NumberAt(file, *end + 6, 2) == 0 && NumberAt(file, *end + 8, 2) == count,
        "{}: an archive in several parts is not read", source);
  Check(count != 0xffff && first != 0xffffffff, "{}: an archive of 4 GiB or of 65,535 entries (zip64) is not read",
        source);
  Check(std::uint64_t{first} + size <= *end, "{}: the directory, {} bytes at {}, reaches over its end at {}", source,
        size, first, *end);
  std::vector<Entry> entries;
  std::size_t place = first;
  for (std::uint32_t index = 0; index < count; ++index) {
    Check(*end - place >= kEntrySize && Has(file, place, kEntrySignature),
          "{}: entry {} of {} of its directory is damaged", source, index + 1, count);
    const std::size_t name = NumberAt(file, place + 28, 2);
    const std::size_t whole = kEntrySize + name + NumberAt(file, place + 30, 2) + NumberAt(file, place + 32, 2);
    Check(*end - place >= whole, "{}: entry {} of {} of its directory is cut off", source, index + 1, count);
    entries.push_back({std::string(TextOf(file.subspan(place + kEntrySize, name))), NumberAt(file, place + 8, 2),
                       NumberAt(file, place + 10, 2), NumberAt(file, place + 16, 4), NumberAt(file, place + 20, 4),
                       NumberAt(file, place + 24, 4), NumberAt(file, place + 42, 4)});
    place += whole;
  }
  return entries;
}

std::string ArrayName(const Entry& entry, const std::string& source) {
  constexpr std::string_view kEnding = ".npy";
  Check(entry.name.ends_with(kEnding), "{}: {}: is no {} file, of which such an archive consists", source,
        Quoted(entry.name), kEnding);
  return entry.name.substr(0, entry.name.size() - kEnding.size());
}

std::vector<std::byte> Inflate(Bytes compressed, std::size_t size, const std::string& place) {
  // Deflate holds at most 1,032 bytes in one.
  Check(size / 1032 <= compressed.size(), "{}: {} bytes cannot hold {}", place, compressed.size(), size);
  std::vector<std::byte> inflated(size);
  z_stream stream = {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  stream.next_out = reinterpret_cast<Bytef*>(inflated.data());
  stream.avail_out = static_cast<uInt>(size);
  Check(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "{}: there is no memory to inflate it", place);
  const int result = inflate(&stream, Z_FINISH);
  const std::size_t made = size - stream.avail_out;
  inflateEnd(&stream);
  Check(result == Z_STREAM_END && made == size && stream.avail_in == 0,
        "{}: its compressed bytes are damaged, or give other than the {} bytes that the archive says", place, size);
  return inflated;
}

// The dictionary in an .npy file's header, a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4),
// }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& place) : rest_(text), place_(place) {}

  Shape Parse() {
    std::set<std::string_view> seen;
    std::vector<std::int64_t> axes;
    Take("{");
    while (!Takes("}")) {
      const std::string_view key = Quoted();
      Check(seen.insert(key).second, "{}: its header says {} twice", place_, key);
      Take(":");
      if (key == "descr") {
        const std::string_view type = Quoted();
        Check(type == "<f4", "{}: holds {}, where little-endian float32, <f4, is read", place_,
              headlight::Quoted(type));
      } else if (key == "fortran_order") {
        Check(Takes("False"), "{}: is not in C order, row by row, which alone is read", place_);
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
    Check(Takes(token), "{}: its header is damaged: {} stands where {} is needed", place_,
          headlight::Quoted(rest_.substr(0, 20)), token);
  }
  std::string_view Quoted() {
    Take("'");
    const std::size_t end = rest_.find('\'');
    Check(end != std::string_view::npos, "{}: its header is damaged: a quotation does not end", place_);
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
      // Whose product no file has room for.
      constexpr std::int64_t kMost = std::int64_t{1} << 40;
      Check(axis <= kMost && (axis == 0 || elements <= kMost / axis), "{}: its shape is too large", place_);
      elements *= std::max<std::int64_t>(axis, 1);
      Check(any, "{}: its header is damaged: {} stands where an axis is needed", place_,
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

StoredTensor ParseNpy(Bytes npy, std::string name, const std::string& place) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  Check(Has(npy, 0, kMagic) && npy.size() >= 12, "{}: is no .npy file", place);
  const std::uint32_t version = NumberAt(npy, 6, 1);
  Check(version >= 1 && version <= 3, "{}: is of version {} of the format, where 1 to 3 are read", place, version);
  const std::size_t begin = version == 1 ? 10 : 12, length = NumberAt(npy, 8, version == 1 ? 2 : 4);
  Check(npy.size() - begin >= length, "{}: its header, {} bytes, is cut off", place, length);
  const Shape shape = HeaderParser(TextOf(npy.subspan(begin, length)), place).Parse();
  const Bytes numbers = npy.subspan(begin + length);
  Check(static_cast<std::uint64_t>(shape.elements()) == numbers.size() / sizeof(float) &&
            numbers.size() % sizeof(float) == 0,
        "{}: {} bytes of numbers, where the shape {} has {}", place, numbers.size(), ToString(shape), shape.elements());
  return {std::move(name), StoredType::f32, shape, numbers};
}

}  // namespace

std::vector<std::string> NamesInNpz(const std::string& path) {
  const MappedFile file(path);
  std::vector<std::string> names;
  for (const Entry& entry : ReadDirectory(file.bytes(), path)) names.push_back(ArrayName(entry, path));
  return names;
}

NpzContent ParseNpz(std::span<const std::byte> file, const std::string& source) {
  NpzContent content;
  std::set<std::string> names;
  std::uint64_t held = 0;
  for (const Entry& entry : ReadDirectory(file, source)) {
    const std::string place = fmt::format("{}: {}", source, Quoted(entry.name));
    std::string name = ArrayName(entry, source);
    Check(names.insert(name).second, "{}: stands twice in the archive", place);
    Check((entry.flags & 1) == 0, "{}: is encrypted", place);
    Check(entry.method == 0 || entry.method == 8, "{}: is compressed by method {}, where 0 and 8 are read", place,
          entry.method);
    Check(Has(file, entry.local, kLocalSignature) && file.size() - entry.local >= kLocalSize,
          "{}: does not stand where the archive's directory says", place);
    const std::uint64_t begin = std::uint64_t{entry.local} + kLocalSize + NumberAt(file, entry.local + 26, 2) +
                                NumberAt(file, entry.local + 28, 2);
    // Entries that share bytes would take more memory than the file says.
    held += entry.compressed;
    Check(begin <= file.size() && file.size() - begin >= entry.compressed && held <= file.size(),
          "{}: its {} bytes reach over the archive's end or over other entries", place, entry.compressed);
    Bytes bytes = file.subspan(begin, entry.compressed);
    if (entry.method == 8) bytes = content.inflated.emplace_back(Inflate(bytes, entry.size, place));
    Check(bytes.size() == entry.size, "{}: {} bytes, where the archive says {}", place, bytes.size(), entry.size);
    const uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    Check(checksum == entry.checksum, "{}: is damaged: its checksum is {:08x}, where the archive says {:08x}", place,
          checksum, entry.checksum);
    content.tensors.push_back(ParseNpy(bytes, std::move(name), place));
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
