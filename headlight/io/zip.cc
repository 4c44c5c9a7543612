#include "headlight/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

using Bytes = std::span<const std::byte>;

// Sizes of the records without their variable-length fields, and signatures of the records.
constexpr std::size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30, kZip64EndSize = 56, kZip64LocatorSize = 20;
constexpr std::string_view kEndSignature = "PK\x05\x06", kEntrySignature = "PK\x01\x02", kLocalSignature = "PK\x03\x04",
                           kZip64EndSignature = "PK\x06\x06", kZip64LocatorSignature = "PK\x06\x07";
constexpr std::uint32_t kInZip64 = 0xffffffff;  // the value is in the zip64 extra field

bool Has(Bytes file, std::size_t place, std::string_view signature) {
  return place <= file.size() && file.size() - place >= signature.size() &&
         std::string_view(reinterpret_cast<const char*>(file.data()) + place, signature.size()) == signature;
}

struct Directory {
  std::uint64_t begin = 0, end = 0, count = 0;
};

// Returns the offset of the archive's end record. A comment of at most 65,535 bytes may follow the record.
std::size_t FindEnd(Bytes file, const std::string& source) {
  Check(file.size() >= kEndSize, "{}: {} bytes are not a zip archive", source, file.size());
  constexpr std::size_t kLongestComment = 0xffff;
  for (std::size_t comment = 0; comment <= std::min(kLongestComment, file.size() - kEndSize); ++comment) {
    const std::size_t place = file.size() - kEndSize - comment;
    if (Has(file, place, kEndSignature) && LittleEndian(file, place + 20, 2) == comment) return place;
  }
  Fail("{}: not a zip archive, or truncated: the end of its directory is missing", source);
}

Directory FindDirectory(Bytes file, const std::string& source) {
  std::size_t end = FindEnd(file, source);
  const auto number = [&](std::size_t place, std::size_t size) { return LittleEndian(file, end + place, size); };
  std::uint64_t count = number(10, 2), size = number(12, 4), begin = number(16, 4);
  Check(number(4, 2) == 0 && number(6, 2) == 0 && number(8, 2) == count, "{}: multi-part archives are not supported",
        source);
  if (end >= kZip64LocatorSize && Has(file, end - kZip64LocatorSize, kZip64LocatorSignature)) {
    const std::size_t locator = end - kZip64LocatorSize;
    const std::uint64_t place = LittleEndian(file, locator + 8, 8);
    Check(LittleEndian(file, locator + 4, 4) == 0 && LittleEndian(file, locator + 16, 4) == 1,
          "{}: multi-part archives are not supported", source);
    Check(locator >= kZip64EndSize && place <= locator - kZip64EndSize && Has(file, place, kZip64EndSignature),
          "{}: the zip64 end of the directory is not at {}", source, place);
    end = place;
    count = number(32, 8), size = number(40, 8), begin = number(48, 8);
    Check(number(16, 4) == 0 && number(20, 4) == 0 && number(24, 8) == count,
          "{}: multi-part archives are not supported", source);
  }
  Check(begin <= end && size <= end - begin, "{}: the directory, {} bytes at {}, exceeds its end at {}", source, size,
        begin, end);
  return {begin, end, count};
}

// Reads the values that do not fit into an entry's fields. They are in the entry's extra field 1, in the order of
// `numbers`.
void ReadZip64(Bytes extra, std::initializer_list<std::uint64_t*> numbers, const std::string& place) {
  if (std::ranges::none_of(numbers, [](const std::uint64_t* number) { return *number == kInZip64; })) return;
  while (extra.size() >= 4 && LittleEndian(extra, 0, 2) != 1)
    extra = extra.subspan(std::min<std::size_t>(extra.size(), 4 + LittleEndian(extra, 2, 2)));
  std::size_t rest = extra.size() < 4 ? 0 : std::min<std::size_t>(extra.size() - 4, LittleEndian(extra, 2, 2));
  std::size_t at = 4;
  for (std::uint64_t* const number : numbers) {
    if (*number != kInZip64) continue;
    Check(rest >= 8, "{}: its zip64 sizes are missing", place);
    *number = LittleEndian(extra, at, 8);
    at += 8;
    rest -= 8;
  }
}

}  // namespace

std::uint64_t LittleEndian(Bytes bytes, std::size_t place, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;) number = number << 8 | static_cast<std::uint64_t>(bytes[place + i]);
  return number;
}

std::vector<ZipEntry> ReadZip(Bytes file, const std::string& source) {
  const Directory directory = FindDirectory(file, source);
  std::vector<ZipEntry> entries;
  std::set<std::string_view> names;  // views of the file
  std::uint64_t held = 0;
  std::size_t place = directory.begin;
  for (std::uint64_t index = 0; index < directory.count; ++index) {
    Check(directory.end - place >= kEntrySize && Has(file, place, kEntrySignature),
          "{}: entry {} of {} of its directory is damaged", source, index + 1, directory.count);
    const auto number = [&](std::size_t at, std::size_t size) { return LittleEndian(file, place + at, size); };
    const std::size_t name_size = number(28, 2), extra_size = number(30, 2);
    const std::size_t whole = kEntrySize + name_size + extra_size + number(32, 2);
    Check(directory.end - place >= whole, "{}: entry {} of {} of its directory is truncated", source, index + 1,
          directory.count);
    const std::string_view name(reinterpret_cast<const char*>(file.data()) + place + kEntrySize, name_size);
    ZipEntry entry = {std::string(name),
                      fmt::format("{}: {}", source, Quoted(name)),
                      static_cast<std::uint32_t>(number(10, 2)),
                      static_cast<std::uint32_t>(number(16, 4)),
                      number(24, 4),
                      {}};
    Check(names.insert(name).second, "{}: occurs twice in the archive", entry.location);
    Check((number(8, 2) & 1) == 0, "{}: is encrypted", entry.location);
    std::uint64_t stored = number(20, 4), local = number(42, 4);
    ReadZip64(file.subspan(place + kEntrySize + name_size, extra_size), {&entry.size, &stored, &local}, entry.location);
    place += whole;

    Check(local <= file.size() && file.size() - local >= kLocalSize + name_size && Has(file, local, kLocalSignature) &&
              LittleEndian(file, local + 26, 2) == name_size && Has(file, local + kLocalSize, name),
          "{}: is not at the offset in the archive's directory", entry.location);
    const std::uint64_t begin = local + kLocalSize + name_size + LittleEndian(file, local + 28, 2);
    // If entries shared bytes, memory could exceed the size of the file.
    Check(begin <= file.size() && file.size() - begin >= stored && stored <= file.size() - held,
          "{}: its {} bytes exceed the archive or overlap other entries", entry.location, stored);
    held += stored;
    entry.bytes = file.subspan(begin, stored);
    entries.push_back(std::move(entry));
  }
  return entries;
}

void CheckZipChecksum(const ZipEntry& entry, Bytes content) {
  const uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  Check(checksum == entry.checksum, "{}: is damaged: its checksum is {:08x} instead of {:08x}", entry.location,
        checksum, entry.checksum);
}

}  // namespace headlight
