// Builds zip archives for tests. They are valid unless a test changes a field.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headlight::zip_testing {

inline std::string Number(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i);
  return text;
}

// The fields of an entry, which are valid unless a test changes them.
struct Packed {
  std::string name, data;
  std::uint32_t flags = 0, method = 0, size = 0, compressed = 0, checksum = 0;
  std::uint32_t local = 0;  // error added to the offset of the local header

  Packed(std::string its_name, std::string its_data) : name(std::move(its_name)), data(std::move(its_data)) {
    size = compressed = static_cast<std::uint32_t>(data.size());
    checksum = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
  }
};

// Returns a zip archive. With `zip64`, all sizes and offsets are only in the records for large archives.
inline std::string Zip(const std::vector<Packed>& entries, const std::string& comment = "", bool zip64 = false) {
  const auto field = [&](std::uint64_t number) { return Number(zip64 ? 0xffffffff : number, 4); };
  std::string file, directory;
  for (const Packed& entry : entries) {
    const std::string local = Number(file.size() + entry.local, 8), fixed = Number(20, 2) + Number(entry.flags, 2) +
                                                                            Number(entry.method, 2) + Number(0, 4) +
                                                                            Number(entry.checksum, 4);
    const std::string large = zip64 ? Number(0xfeed, 2) + Number(1, 2) + "?" + Number(1, 2) + Number(24, 2) +
                                          Number(entry.size, 8) + Number(entry.compressed, 8) + local
                                    : "";
    directory += "PK\1\2" + Number(20, 2) + fixed + field(entry.compressed) + field(entry.size) +
                 Number(entry.name.size(), 2) + Number(large.size(), 2) + Number(0, 10) +
                 (zip64 ? Number(0xffffffff, 4) : local.substr(0, 4)) + entry.name + large;
    file += "PK\3\4" + fixed + Number(entry.compressed, 4) + Number(entry.size, 4) + Number(entry.name.size(), 2) +
            Number(0, 2) + entry.name + entry.data;
  }
  const std::string counts = Number(entries.size(), zip64 ? 8 : 2) + Number(entries.size(), zip64 ? 8 : 2) +
                             Number(directory.size(), zip64 ? 8 : 4) + Number(file.size(), zip64 ? 8 : 4);
  const std::string end = "PK\5\6" + Number(0, 4);
  if (!zip64) return file + directory + end + counts + Number(comment.size(), 2) + comment;
  return file + directory + "PK\6\6" + Number(44, 8) + Number(45, 2) + Number(45, 2) + Number(0, 8) + counts +
         "PK\6\7" + Number(0, 4) + Number(file.size() + directory.size(), 8) + Number(1, 4) + end + Number(0xffff, 2) +
         Number(0xffff, 2) + Number(0xffffffff, 4) + Number(0xffffffff, 4) + Number(comment.size(), 2) + comment;
}

}  // namespace headlight::zip_testing
