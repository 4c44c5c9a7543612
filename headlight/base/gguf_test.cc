// Tests files that the GGUF reader rejects. io/gguf_blocks_test.cc compares values from valid files with Python's gguf
// package.
#include "headlight/base/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/gguf_testing.h"
#include "headlight/base/test_support.h"

namespace headlight::gguf_test {
namespace {

using namespace gguf_testing;
using testing::HasSubstr;

std::string Refusal(const std::string& file) {
  return ErrorOf([&] { ParseGguf(std::as_bytes(std::span(file.data(), file.size())), "x.gguf"); });
}

constexpr std::uint32_t kQ4K = 12;

TEST(Gguf, RefusesDamagedFiles) {
  const std::uint64_t huge = std::uint64_t{1} << 62;
  const auto key = [](std::uint32_t type) { return Bytes::Header(0, 1).Key("k", type); };
  const auto tensor = [](const std::vector<std::uint64_t>& axes, std::uint32_t type, std::uint64_t offset) {
    return Bytes::Header(1, 0).Tensor("t", axes, type, offset).Data(64).text;
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "x.gguf: does not begin with GGUF"},
      {"GGML\3", "does not begin with GGUF"},
      {"FUGG", "big-endian"},
      {Bytes::Header(0, 0, 3U << 24).text, "big-endian"},
      {Bytes::Header(0, 0, 1).text, "version 1"},
      {Bytes::Header(0, 0, 4).text, "version 4"},
      {"version https://git-lfs", "git lfs pull"},
      {Bytes::Header(huge, 0).text, std::to_string(huge) + " tensors"},
      {Bytes::Header(0, 2).Key("k", kBool).Number('\0').text, "cut off"},
      {key(13).text, "key 'k' has a value of the unknown type 13"},
      {key(kBool).Number('\2').text, "key 'k' is neither false nor true"},
      {key(kUint64).Number(huge * 2).text, "key 'k' is larger than"},
      {key(kString).Number(huge).text, "key 'k' has " + std::to_string(huge)},
      {key(kArray).Number(kInt32).Number(huge).text, "key 'k'"},
      {key(kArray).Number(kString).Number(huge).text, "key 'k'"},
      {key(kArray).Number(kArray).Number(std::uint64_t{0}).text, "array of arrays"},
      {Bytes::Header(0, 2).Key("k", kBool).Number('\0').Key("k", kBool).Number('\0').text, "key 'k' is there twice"},
      {Bytes::Header(0, 1).Key("general.alignment", kInt32).Number(24).text, "power of two"},
      {tensor({2, 2, 2, 2, 2}, kF32, 0), "tensor 't' has 5 axes"},
      {tensor({huge, huge}, kF32, 0), "tensor 't' is too large"},
      {tensor({huge}, kF32, 0), "tensor 't' is too large"},
      {tensor({2}, 16, 0), "tensor 't' is IQ2_XXS"},
      {tensor({2}, 99, 0), "unknown number 99"},
      {tensor({32}, kQ4K, 0), "no whole blocks of 256"},
      {tensor({2}, kF32, 4), "multiple of the alignment"},
      {tensor({17}, kF32, 0), "68 bytes from byte 0"},
      {tensor({2}, kF32, huge), "8 bytes from byte " + std::to_string(huge)},
      {Bytes::Header(2, 0).Tensor("t", {2}, kF32, 0).Tensor("t", {2}, kF32, 32).Data(64).text, "'t' is there twice"},
      {Bytes::Header(2, 0).Tensor("t", {16}, kF32, 0).Tensor("u", {2}, kF32, 32).Data(64).text, "'u' overlaps"}};
  for (const auto& [file, expected] : cases) EXPECT_THAT(Refusal(file), HasSubstr(expected));
  EXPECT_EQ(Refusal(tensor({16}, kF32, 0)), "");
}

TEST(Gguf, IsReadOrRefusedWhateverIsCutOffOrFlipped) {
  const std::string whole = ReadFile(HEADLIGHT_SOURCE_DIR "/tests/testdata/gguf/llama_yarn.gguf");
  EXPECT_EQ(Refusal(whole), "");
  for (std::size_t size = 0; size + 32 < whole.size(); ++size) EXPECT_NE(Refusal(whole.substr(0, size)), "") << size;
  for (std::size_t at = 0; at < whole.size() && at < 2000; ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      Refusal(flipped);  // Refusal fails unless the error has ErrorCause::user and one line
    }
}

// Returns one file of a split model, including the key for its number.
std::string Part(std::int64_t number, std::int64_t count, const std::string& name) {
  return Bytes::Header(1, 2)
      .Key("split.no", kInt32)
      .Number(static_cast<std::int32_t>(number))
      .Key("split.count", kInt32)
      .Number(static_cast<std::int32_t>(count))
      .Tensor(name, {2}, kF32, 0)
      .Data(32)
      .text;
}

TEST(Gguf, JoinsTheFilesOfASplitModel) {
  const TemporaryFolder folder;
  const std::string first = folder.File("m-00001-of-00002.gguf"), second = folder.File("m-00002-of-00002.gguf");
  WriteFile(first, Part(0, 2, "a"));
  EXPECT_THAT(ErrorOf([&] { Gguf{first}; }), HasSubstr("m-00002-of-00002.gguf"));
  WriteFile(second, Part(1, 2, "b"));
  const Gguf joined(first);
  ASSERT_EQ(joined.tensors().size(), 2U);
  EXPECT_EQ(joined.tensors()[1].name, "b");
  EXPECT_THAT(ErrorOf([&] { Gguf{second}; }), HasSubstr("file 2 of 2"));
  WriteFile(second, Part(1, 2, "a"));
  EXPECT_THAT(ErrorOf([&] { Gguf{first}; }), HasSubstr("'a' is in another file"));
  WriteFile(second, Part(0, 2, "b"));
  EXPECT_THAT(ErrorOf([&] { Gguf{first}; }), HasSubstr("split.no"));
  WriteFile(folder.File("other.gguf"), Part(0, 2, "a"));
  EXPECT_THAT(ErrorOf([&] { Gguf{folder.File("other.gguf")}; }), HasSubstr("-00001-of-00002.gguf"));
}

}  // namespace
}  // namespace headlight::gguf_test
