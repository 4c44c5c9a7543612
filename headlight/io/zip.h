// Reads the directory of a zip archive (PKWARE's APPNOTE.TXT, version 6.3.10), including zip64.
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
  std::string location;  ///< "SOURCE: 'NAME'", for error messages
  std::uint32_t method = 0;
  std::uint32_t checksum = 0;        ///< CRC-32 of the content
  std::uint64_t size = 0;            ///< size of the content in bytes
  std::span<const std::byte> bytes;  ///< the bytes in the archive; for method 0, the content itself
};

/// Reads the entries of an archive in the order of its directory. Names must be distinct, and the bytes of all entries
/// must be inside the file and together at most as large as the file. Throws Error naming `source` and the entry
/// otherwise, and for encrypted entries and multi-part archives.
std::vector<ZipEntry> ReadZip(std::span<const std::byte> file, const std::string& source);

/// Throws Error unless `content` has the checksum in the archive.
void CheckZipChecksum(const ZipEntry& entry, std::span<const std::byte> content);

inline std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the little-endian number of `size` bytes (at most 8) at bytes[place]. The number must be inside `bytes`.
std::uint64_t LittleEndian(std::span<const std::byte> bytes, std::size_t place, std::size_t size);

}  // namespace headlight
