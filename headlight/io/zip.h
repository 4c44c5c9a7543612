// The directory of a zip archive (PKWARE's APPNOTE.TXT, version 6.3.10), with zip64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headlight {

struct ZipEntry {
  std::string name;
  std::string place;  // "SOURCE: 'NAME'", for errors
  std::uint32_t method = 0;
  std::uint32_t checksum = 0;        // CRC-32 of the content
  std::uint64_t size = 0;            // bytes of the content
  std::span<const std::byte> bytes;  // as stored: the content itself if the method is 0
};

/// The entries of an archive's bytes, in the directory's order. Their names differ, their bytes lie in the file, and
/// together they take at most as many bytes as the file. Throws Error that names `source` and the entry for anything
/// else, for encrypted entries and for archives in several parts.
std::vector<ZipEntry> ReadZip(std::span<const std::byte> file, const std::string& source);

/// Throws Error unless `content` has the checksum that the archive says.
void CheckZipChecksum(const ZipEntry& entry, std::span<const std::byte> content);

inline std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A little-endian number of `size` bytes, at most 8, which must be there.
std::uint64_t LittleEndian(std::span<const std::byte> bytes, std::size_t place, std::size_t size);

}  // namespace headlight
