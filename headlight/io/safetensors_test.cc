#include "headlight/io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

#include "headlight/base/test_support.h"

namespace headlight::safetensors_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Golden(const std::string& name) {
  return std::string(HEADLIGHT_SOURCE_DIR) + "/headlight/io/testdata/" + name;
}

// Returns a file with this header and this many bytes of data.
std::string FileOf(std::string_view header, std::size_t data) {
  const auto length = static_cast<std::uint64_t>(header.size());
  std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
  return file.append(header).append(data, '\1');
}

SafetensorsContent Parse(std::string_view file) {
  return ParseSafetensors(std::as_bytes(std::span(file.data(), file.size())), "m.safetensors");
}
std::string ParseError(std::string_view file) {
  return ErrorOf([&] { Parse(file); });
}

TEST(Safetensors, ReadsEveryTypeOfTheReferenceLibrary) {
  const Safetensors file(Golden("every_type.safetensors"));
  EXPECT_EQ(file.tensors().size(), 13u);
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  const auto integers = [&](std::string_view name) { return file.Read(name, DType::int32).ToVector<std::int32_t>(); };
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  EXPECT_THAT(integers("bool"), ElementsAre(1, 0, 1));
  EXPECT_THAT(integers("u8"), ElementsAre(0, 1, 255));
  EXPECT_THAT(integers("i8"), ElementsAre(-128, 0, 127));
  EXPECT_THAT(integers("i16"), ElementsAre(-32768, 0, 32767));
  EXPECT_THAT(integers("i32"), ElementsAre(least, 0, 1, most));
  EXPECT_THAT(integers("i64"), ElementsAre(least, 0, most));
  EXPECT_EQ(file.At("i32").shape, (Shape{2, 2}));

  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(file.Read("f32").ToVector<float>(),
              ElementsAre(1.5f, -0.0f, std::numeric_limits<float>::max(), 1e-45f, infinity, -2.25f));
  EXPECT_TRUE(std::signbit(file.Read("f32").data<float>()[1]));
  EXPECT_THAT(file.Read("f64", DType::float64).ToVector<double>(), ElementsAre(0.1, -1e30, 5e-324));
  EXPECT_THAT(file.Read("f64").ToVector<float>(), ElementsAre(0.1f, -1e30f, 0.0f));
  EXPECT_EQ(file.Read("f32", DType::float64).data<double>()[0], 1.5);
  EXPECT_EQ(file.Read("scalar").shape().rank(), 0);
  EXPECT_EQ(file.Read("scalar").data<float>()[0], 7.0f);
  EXPECT_EQ(file.Read("empty").shape(), (Shape{3, 0, 2}));
  EXPECT_TRUE(file.contains("a \"quoted\" ä"));
}

TEST(Safetensors, ConvertsSixteenBitTypesLikePyTorch) {
  const Safetensors file(Golden("sixteen_bits.safetensors"));
  for (const std::string name : {"f16", "bf16"}) {
    const auto values = file.Read(name).ToVector<float>();
    const auto expected = file.Read(name + "_as_f32").ToVector<float>();
    ASSERT_EQ(values.size(), 256u);
    for (std::size_t index = 0; index < values.size(); ++index) {
      if (std::isnan(expected[index])) {
        EXPECT_TRUE(std::isnan(values[index])) << name << " " << index;
      } else {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(values[index]), std::bit_cast<std::uint32_t>(expected[index]))
            << name << " " << index;
      }
    }
  }
}

TEST(Safetensors, ReadsSomeRows) {
  const TemporaryFolder folder;
  WriteSafetensors(folder.File("m"), {Stored("weight", Tensor::From({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {3, 2}))});
  const Tensor rows = Safetensors(folder.File("m")).ReadRows("weight", 1, 2);
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(rows.ToVector<float>(), (std::vector<float>{3, 4, 5, 6}));
}

TEST(Safetensors, ReadsRowsInAnotherOrder) {
  const float numbers[] = {0, 1, 2, 3, 4, 5};
  StoredTensor tensor = {"w", StoredType::f32, {3, 2}, std::as_bytes(std::span(numbers))};
  tensor.source_row = [](std::int64_t row) { return (row + 1) % 3; };
  const Safetensors file = Safetensors::Of("m.gguf", {tensor});
  EXPECT_THAT(file.Read("w").span<float>(), ElementsAre(2, 3, 4, 5, 0, 1));
  EXPECT_THAT(file.ReadRows("w", 1, 2, DType::float64).span<double>(), ElementsAre(4, 5, 0, 1));
  EXPECT_EQ(file.At("w").Row(2).data(), tensor.bytes.data());
  const TemporaryFolder folder;
  EXPECT_THROW(WriteSafetensors(folder.File("m.safetensors"), {tensor}), Error);
}

TEST(Safetensors, RejectsValuesOutOfRange) {
  const Safetensors file(Golden("every_type.safetensors"));
  EXPECT_THAT(ErrorOf([&] { file.Read("i64_large", DType::int32); }),
              HasSubstr("every_type.safetensors: tensor 'i64_large': element 0"));
  EXPECT_THAT(ErrorOf([&] { file.Read("f64_large"); }), HasSubstr("tensor 'f64_large': element 1"));
  EXPECT_THAT(ErrorOf([&] { file.Read("i64"); }), HasSubstr("tensor 'i64': holds I64"));
  EXPECT_THAT(ErrorOf([&] { file.Read("f32", DType::int32); }), HasSubstr("tensor 'f32': holds F32"));
  EXPECT_THAT(ErrorOf([&] { file.Read("f33"); }), HasSubstr("no tensor 'f33'"));
}

TEST(Safetensors, WritesWhatTheReferenceLibraryWrites) {
  const TemporaryFolder folder;
  for (const std::string name : {"every_type.safetensors", "sixteen_bits.safetensors"}) {
    const Safetensors golden(Golden(name));
    std::vector<StoredTensor> tensors;
    for (const auto& [_, tensor] : golden.tensors()) tensors.push_back(tensor);
    WriteSafetensors(folder.File(name), tensors, golden.metadata());
    EXPECT_EQ(ReadFile(folder.File(name)), ReadFile(Golden(name)));
  }
}

TEST(Safetensors, WritesTensors) {
  const TemporaryFolder folder;
  const Tensor weight = Tensor::From({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {3, 2});
  const Tensor step = Tensor::From({std::int32_t{-7}}, {});
  const Tensor precise = Tensor::From({0.1}, {1});
  WriteSafetensors(folder.File("m"), {Stored("weight", weight), Stored("step", step), Stored("precise", precise),
                                      Stored("rows", weight.ViewRows(1, 2)), Stored("none", Tensor::Empty({0, 2}))});
  const Safetensors file(folder.File("m"));
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.Read("weight").ToVector<float>(), weight.ToVector<float>());
  EXPECT_EQ(file.Read("weight").shape(), weight.shape());
  EXPECT_THAT(file.Read("step", DType::int32).ToVector<std::int32_t>(), ElementsAre(-7));
  EXPECT_THAT(file.Read("precise", DType::float64).ToVector<double>(), ElementsAre(0.1));
  EXPECT_THAT(file.Read("rows").ToVector<float>(), ElementsAre(3, 4, 5, 6));
  for (const auto& [name, tensor] : file.tensors()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % static_cast<std::uintptr_t>(SizeOf(tensor.type)),
              0u)
        << name;
  }

  WriteSafetensors(folder.File("nothing"), {}, {});
  EXPECT_EQ(ReadFile(folder.File("nothing")), FileOf("{}      ", 0));
  EXPECT_TRUE(Safetensors(folder.File("nothing")).tensors().empty());
}

TEST(Safetensors, RejectsInvalidTensorsToWrite) {
  const TemporaryFolder folder;
  const Tensor weight = Tensor::Zeros({2, 2});
  StoredTensor lying = Stored("lying", weight);
  lying.shape = {3, 2};
  EXPECT_THROW(WriteSafetensors(folder.File("m"), {lying}), Error);
  EXPECT_THROW(WriteSafetensors(folder.File("m"), {Stored("twice", weight), Stored("twice", weight)}), Error);
  EXPECT_THROW(WriteSafetensors(folder.File("m"), {Stored("__metadata__", weight)}), Error);
  EXPECT_THROW(WriteSafetensors(folder.File("m"), {Stored("\xff", weight)}), Error);
  EXPECT_THROW(Stored("columns", weight.ViewColumns(0, 1)), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Safetensors, RejectsBadPaths) {
  const TemporaryFolder folder;
  EXPECT_THAT(ErrorOf([&] { Safetensors(folder.File("missing")); }), HasSubstr("missing: cannot open"));
  EXPECT_THAT(ErrorOf([&] { Safetensors(folder.path()); }), HasSubstr(folder.path()));
  WriteFile(folder.File("empty"), "");
  EXPECT_THAT(ErrorOf([&] { Safetensors(folder.File("empty")); }), HasSubstr("0 bytes are too few"));
}

TEST(Safetensors, RejectsInconsistentHeaders) {
  const auto entry = [](std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return fmt::format(R"({{"a":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
  };
  const auto two = [](std::string_view first, std::string_view second) {
    return fmt::format(R"({{"a":{{"dtype":"F32","shape":[2],"data_offsets":{}}},)"
                       R"("b":{{"dtype":"F32","shape":[2],"data_offsets":{}}}}})",
                       first, second);
  };
  std::string rank = "[1";
  for (int i = 0; i < 100'000; ++i) rank += ",1";
  const struct {
    std::string header;
    std::size_t data;
    std::string message;
  } cases[] = {
      {"", 8, "does not begin with '{'"},
      {" {}", 0, "does not begin with '{'"},
      {"[]", 0, "does not begin with '{'"},
      {"{} {}", 0, "not valid JSON"},
      {"{\"a\xff\":1}", 0, "ill-formed UTF-8"},
      {std::string("{}\0 ", 4), 0, "byte 2 is zero"},
      {R"({"a":1})", 0, "key 'a': expected an object"},
      {R"({"a":{}})", 0, "key 'a.dtype': expected a string"},
      {R"({"__metadata__":[]})", 0, "key '__metadata__': expected an object"},
      {R"({"__metadata__":{"format":1}})", 0, "key '__metadata__.format'"},
      {entry(R"("F8_E4M3")", "[8]", "[0,8]"), 8, "type 'F8_E4M3'"},
      {entry("7", "[2]", "[0,8]"), 8, "key 'a.dtype': expected a string"},
      {entry(R"("F32")", "2", "[0,8]"), 8, "key 'a.shape': expected an array"},
      {entry(R"("F32")", "[2.0]", "[0,8]"), 8, "key 'a.shape[0]'"},
      {entry(R"("F32")", "[-2]", "[0,8]"), 8, "got -2"},
      {entry(R"("F32")", "[18446744073709551615]", "[0,8]"), 8, "expected an integer"},
      {entry(R"("F32")", "[4294967296,4294967296]", "[0,0]"), 0, "overflows at axis 1"},
      {entry(R"("F32")", "[4611686018427387905]", "[0,4]"), 4, "4 bytes do not hold"},
      {entry(R"("F32")", rank + "]", "[0,4]"), 4, "a shape has at most"},
      {entry(R"("F32")", "[2]", "[0]"), 8, "two numbers, not 1"},
      {entry(R"("F32")", "[2]", "[0,8,8]"), 8, "two numbers, not 3"},
      {entry(R"("F32")", "[2]", "[-8,0]"), 8, "key 'a.data_offsets[0]'"},
      {entry(R"("F32")", "[2]", "[8,0]"), 8, "tensor 'a': bytes 8 to 0"},
      {entry(R"("F32")", "[2]", "[0,8]"), 7, "tensor 'a': bytes 0 to 8"},
      {entry(R"("F32")", "[2]", "[9223372036854775800,9223372036854775807]"), 8, "the 8 bytes after the header"},
      {entry(R"("F32")", "[3]", "[0,8]"), 8, "F32 elements of shape [3]"},
      {entry(R"("F64")", "[2]", "[0,8]"), 8, "F64 elements of shape [2]"},
      {entry(R"("F32")", "[2]", "[0,8]"), 9, "the last 1 bytes"},
      {entry(R"("F32")", "[2]", "[1,9]"), 9, "tensor 'a': 1 bytes before it"},
      {two("[0,8]", "[4,12]"), 12, "tensor 'b': overlaps"},
      {two("[0,8]", "[0,8]"), 8, "overlaps"},
      {two("[0,8]", "[12,20]"), 20, "tensor 'b': 4 bytes before it"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       8, "key 'a'"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"quantized":true}})", 4, "unknown key: 'quantized'"},
  };
  for (const auto& bad : cases) {
    EXPECT_THAT(ParseError(FileOf(bad.header, bad.data)), HasSubstr(bad.message)) << bad.header.substr(0, 200);
    EXPECT_THAT(ParseError(FileOf(bad.header, bad.data)), testing::StartsWith("m.safetensors: "));
  }
  EXPECT_EQ(ParseError(FileOf(two("[8,16]", "[0,8]"), 16)), "");  // tensors may have any order in the header

  std::string huge = FileOf("{}", 0);
  huge[5] = 1;
  EXPECT_THAT(ParseError(huge), HasSubstr("a header of 1099511627778 bytes"));
  huge = FileOf("{}", 0);
  huge[0] = 3;
  EXPECT_THAT(ParseError(huge), HasSubstr("3 bytes in a file of 10"));
  EXPECT_THAT(ParseError("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), HasSubstr("git lfs pull"));
}

TEST(Safetensors, RejectsEveryTruncation) {
  const std::string whole = ReadFile(Golden("every_type.safetensors"));
  EXPECT_EQ(ParseError(whole), "");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(ParseError(std::string_view(whole).substr(0, length)), "") << length;
  }
  EXPECT_NE(ParseError(whole + '\0'), "");
}

// Checks that a file with any single bit of the header flipped is rejected or read completely.
TEST(Safetensors, EveryFlippedBitIsRejectedOrHarmless) {
  const std::string whole = ReadFile(Golden("every_type.safetensors"));
  const std::size_t header = whole.rfind('}') + 1, data = whole.size() - 135;
  int refused = 0;
  for (std::size_t bit = 0; bit < header * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    if (!ParseError(flipped).empty()) {
      ++refused;
      continue;
    }
    std::size_t size = 0;
    for (const StoredTensor& tensor : Parse(flipped).tensors) {
      size += tensor.bytes.size();
      EXPECT_GE(reinterpret_cast<const char*>(tensor.bytes.data()), flipped.data() + data);
    }
    EXPECT_EQ(size, 135u) << "bit " << bit;
  }
  EXPECT_GT(refused, 4000);
}

}  // namespace
}  // namespace headlight::safetensors_test
