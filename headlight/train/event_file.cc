#include "headlight/train/event_file.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// Computes CRC-32C (Castagnoli), masked as in TFRecord files by a rotation and an offset. With this mask, data that
// contains checksums can be checksummed safely.
std::uint32_t MaskedChecksum(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t entry = i;
      for (int bit = 0; bit < 8; ++bit) entry = (entry >> 1) ^ ((entry & 1) != 0 ? 0x82F63B78u : 0u);
      entries[i] = entry;
    }
    return entries;
  }();
  std::uint32_t sum = ~0u;
  for (const char byte : bytes) sum = (sum >> 8) ^ table[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  sum = ~sum;
  return ((sum >> 15) | (sum << 17)) + 0xA282EAD8u;
}

// Returns the bytes of a value in little-endian order. Assumes a little-endian machine.
template <typename T>
std::string Bytes(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// The following functions encode Protocol Buffers fields: a key (field number and wire type), then the content.
std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes.push_back(static_cast<char>(value | 128));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}
std::string Key(int number, int wire_type) { return std::string(1, static_cast<char>(number << 3 | wire_type)); }
std::string DoubleField(int number, double value) { return Key(number, 1) + Bytes(value); }
std::string FloatField(int number, float value) { return Key(number, 5) + Bytes(value); }
std::string IntegerField(int number, std::int64_t value) {
  return Key(number, 0) + Varint(static_cast<std::uint64_t>(value));
}
std::string BytesField(int number, std::string_view bytes) {
  return Key(number, 2) + Varint(bytes.size()) + std::string(bytes);
}

double Now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

EventFile::EventFile(const std::string& folder)
    : path_(fmt::format("{}/events.out.tfevents.{}.{}.headlight", folder, static_cast<std::int64_t>(Now()), getpid())),
      file_(path_, std::ios::binary) {
  Write(DoubleField(1, Now()) + BytesField(3, "brain.Event:2"));
}

void EventFile::AddScalar(std::string_view tag, double value, std::int64_t step) {
  const std::string scalar = BytesField(1, tag) + FloatField(2, static_cast<float>(value));
  Write(DoubleField(1, Now()) + IntegerField(2, step) + BytesField(5, BytesField(1, scalar)));
}

void EventFile::Write(std::string_view event) {
  const std::string length = Bytes(static_cast<std::uint64_t>(event.size()));
  file_ << length << Bytes(MaskedChecksum(length)) << event << Bytes(MaskedChecksum(event)) << std::flush;
  Check(file_.good(), "{}: cannot write: {}", path_, std::strerror(errno));
}

}  // namespace headlight
