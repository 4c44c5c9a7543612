// Checks the GGUF reader and its block types against a file and values from Python's gguf package.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "headlight/base/gguf.h"
#include "headlight/base/test_support.h"
#include "headlight/kernels/block_product.h"
#include "headlight/kernels/blocks.h"
#include "headlight/kernels/panels.h"

namespace headlight::gguf_blocks_test {
namespace {

using testing::ElementsAre;

const std::string kFile = HEADLIGHT_SOURCE_DIR "/headlight/base/testdata/blocks.gguf";

const GgufTensor& TensorOf(const Gguf& file, const std::string& name) {
  const auto found = std::ranges::find(file.tensors(), name, &GgufTensor::name);
  if (found == file.tensors().end()) throw std::out_of_range(name);
  return *found;
}

std::vector<float> NumbersOf(const GgufTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t axis : tensor.axes) count *= axis;
  std::vector<float> numbers(static_cast<std::size_t>(count));
  kernels::Dequantize(tensor.type, tensor.bytes.data(), count, numbers.data());
  return numbers;
}

TEST(GgufBlocks, HaveTheNumbersOfTheOriginal) {
  const Gguf file(kFile);
  int compared = 0;
  for (const GgufTypeInfo& info : GgufTypes()) {
    if (info.type == GgufType::f32) continue;
    const GgufTensor& tensor = TensorOf(file, info.name);
    EXPECT_EQ(tensor.type, info.type);
    const std::vector<float> expected = NumbersOf(TensorOf(file, std::string(info.name) + ".values"));
    EXPECT_EQ(NumbersOf(tensor), expected) << info.name;
    ++compared;
  }
  EXPECT_EQ(compared, 14);
}

TEST(GgufBlocks, KeepTheirNumbersWhenTheyArePacked) {
  const Gguf file(kFile);
  for (const GgufTypeInfo& info : GgufTypes()) {
    if (!kernels::IsBlockType(info.type)) continue;
    const GgufTensor& tensor = TensorOf(file, info.name);
    const std::vector<float> expected = NumbersOf(tensor);
    std::vector<std::byte> panel(static_cast<std::size_t>(kernels::BlockPanelBytes(info.type, 256)));
    const std::vector<const std::byte*> columns(5, tensor.bytes.data());
    kernels::PackBlockPanel(info.type, 256, columns, panel.data());
    std::vector<float> numbers(256);
    for (const std::int64_t column : {0, 4}) {
      kernels::UnpackBlockColumn(info.type, 256, panel.data(), column, numbers.data());
      EXPECT_EQ(numbers, expected) << info.name;
    }
    kernels::UnpackBlockColumn(info.type, 256, panel.data(), 5, numbers.data());
    EXPECT_TRUE(std::ranges::all_of(numbers, [](float number) { return number == 0; })) << info.name;
  }
}

TEST(Gguf, ReadsMetadataOfEveryType) {
  const Gguf file(kFile);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  const auto integer = [&](const char* type) { return file.Integer(std::string("number.") + type, least, most); };
  EXPECT_THAT((std::vector{integer("u8"), integer("i8"), integer("u16"), integer("i16")}),
              ElementsAre(200, -100, 60000, -30000));
  EXPECT_THAT((std::vector{integer("u32"), integer("i32"), integer("u64"), integer("i64")}),
              ElementsAre(4000000000, -2000000000, std::int64_t{1} << 62, -(std::int64_t{1} << 62)));
  EXPECT_EQ(file.Number("number.f32", 0, 1), 0.1F);
  EXPECT_EQ(file.Number("number.f64", 0, 1), 0.1);
  EXPECT_EQ(file.Number("number.u8", 0, 255), 200);
  EXPECT_TRUE(file.Flag("flag"));
  EXPECT_EQ(file.Text("text"), "Grüße");
  EXPECT_THAT(file.Array("texts").Strings(), ElementsAre("a", "", "ß"));
  EXPECT_THAT(file.Array("integers").Integers(), ElementsAre(3, -4));
  EXPECT_THAT(file.Array("floats").Floats(), ElementsAre(0.5F, -2.0F));
}

TEST(Gguf, NamesTheKeyOfAWrongValue) {
  const Gguf file(kFile);
  const auto error = [](const auto& call) { return ErrorOf(call); };
  EXPECT_THAT(error([&] { file.Integer("nothing", 0, 1); }), testing::HasSubstr("key 'nothing'"));
  EXPECT_THAT(error([&] { file.Integer("text", 0, 1); }), testing::HasSubstr("key 'text'"));
  EXPECT_THAT(error([&] { file.Integer("number.u8", 0, 100); }), testing::HasSubstr("from 0 to 100, not 200"));
  EXPECT_THAT(error([&] { file.Array("texts").Floats(); }), testing::HasSubstr("key 'texts'"));
  EXPECT_THAT(error([&] { file.Array("floats").Integers(); }), testing::HasSubstr("key 'floats'"));
}

}  // namespace
}  // namespace headlight::gguf_blocks_test
