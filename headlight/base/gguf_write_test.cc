#include "headlight/base/gguf_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/test_support.h"

namespace headlight::gguf_write_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The file was written by Python's gguf package and has metadata of every type.
TEST(GgufWriter, WritesIdenticalBytes) {
  const std::string path = HEADLIGHT_SOURCE_DIR "/headlight/base/testdata/blocks.gguf";
  const TemporaryFolder folder;
  const MappedFile file(path);
  GgufMetadata metadata;
  for (const GgufEntry& entry : ParseGgufEntries(file.bytes(), path)) metadata.SetEntry(entry);
  const GgufContent content = ParseGguf(file.bytes(), path);
  std::vector<GgufTensorPlan> plans;
  for (const GgufTensor& tensor : content.tensors) plans.push_back({tensor.name, tensor.type, tensor.axes});
  GgufWriter writer(folder.File("again.gguf"), metadata, plans);
  for (const GgufTensor& tensor : content.tensors) {
    writer.Write(tensor.bytes.first(1));  // writes the bytes in pieces
    writer.Write(tensor.bytes.subspan(1));
  }
  writer.Commit();
  EXPECT_EQ(ReadFile(folder.File("again.gguf")), ReadFile(path));
}

TEST(GgufWriter, WritesValuesAndTensorsOfAnySize) {
  const TemporaryFolder folder;
  const std::string path = folder.File("a.gguf");
  GgufMetadata metadata;
  metadata.SetInteger("integer", 4'000'000'000);
  metadata.SetNumber("number", 0.5);
  metadata.SetFlag("flag", true);
  metadata.SetText("text", "before");
  metadata.SetText("text", "ß");
  metadata.SetText("removed", "");
  metadata.Remove("removed");
  const std::vector<std::string> texts = {"a", ""};
  metadata.SetTexts("texts", texts);
  metadata.SetNumbers("numbers", std::vector<float>{1.5F});
  metadata.SetIntegers("integers", std::vector<std::int32_t>{-1, 7});
  const std::vector<GgufTensorPlan> plans = {
      {"none", GgufType::f32, {0, 4}}, {"bytes", GgufType::f16, {1, 3}}, {"last", GgufType::f32, {2, 0}}};
  GgufWriter writer(path, metadata, plans);
  const std::vector<std::byte> bytes(6, std::byte{1});
  writer.Write(bytes);
  writer.Commit();
  const Gguf file(path);
  EXPECT_EQ(file.Integer("integer", 0, std::int64_t{1} << 40), 4'000'000'000);
  EXPECT_EQ(file.Number("number", 0, 1), 0.5);
  EXPECT_TRUE(file.Flag("flag"));
  EXPECT_EQ(file.Text("text"), "ß");
  EXPECT_FALSE(file.contains("removed"));
  EXPECT_THAT(file.Array("texts").Strings(), ElementsAre("a", ""));
  EXPECT_THAT(file.Array("numbers").Floats(), ElementsAre(1.5F));
  EXPECT_THAT(file.Array("integers").Integers(), ElementsAre(-1, 7));
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_TRUE(std::ranges::equal(file.tensors()[1].bytes, bytes));
  EXPECT_THAT(file.tensors()[1].axes, ElementsAre(1, 3));
}

TEST(GgufWriter, KeepsTheOldFileUntilAllIsWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.File("a.gguf");
  WriteFile(path, "old");
  {
    GgufWriter writer(path, {}, std::vector<GgufTensorPlan>{{"a", GgufType::f32, {4}}});
    writer.Write(std::vector<std::byte>(15));
    EXPECT_THROW(writer.Commit(), Error);
  }
  EXPECT_EQ(ReadFile(path), "old");
}

TEST(GgufWriter, RefusesWhatTheFormatLacks) {
  const TemporaryFolder folder;
  const auto refusal = [&](const GgufTensorPlan& plan) {
    return ErrorOf([&] { GgufWriter(folder.File("a.gguf"), {}, std::vector{plan}); });
  };
  EXPECT_THAT(refusal({"a", GgufType::q8_0, {2, 48}}), HasSubstr("no whole blocks of 32"));
  EXPECT_THAT(refusal({std::string(64, 'a'), GgufType::f32, {2}}), HasSubstr("64 bytes, more than 63"));
  EXPECT_THAT(refusal({"a", GgufType::f32, {1, 1, 1, 1, 1}}), HasSubstr("5 axes, more than 4"));
  GgufMetadata metadata;
  EXPECT_THAT(ErrorOf([&] { metadata.SetInteger("key", std::int64_t{1} << 32); }), HasSubstr("key"));
}

}  // namespace
}  // namespace headlight::gguf_write_test
