// Tests reading damaged files and the goldens of tools/make_torch_goldens.py.
#include "headlight/io/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/zip_testing.h"

namespace headlight::torch_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using zip_testing::Number;
using zip_testing::Packed;
using zip_testing::Zip;

const std::string kTestData = HEADLIGHT_SOURCE_DIR "/headlight/io/testdata/";

TorchContent Parse(const std::string& file) {
  return ParseTorchFile(std::as_bytes(std::span(file.data(), file.size())), "m.bin");
}
std::string ParseError(const std::string& file) {
  return ErrorOf([&] { Parse(file); });
}

// Functions that return pickle opcodes, named as in Python's pickletools.
std::string Text(const std::string& text) { return "X" + Number(text.size(), 4) + text; }
std::string Global(const std::string& module, const std::string& name) { return "c" + module + "\n" + name + "\n"; }
std::string Int(std::int64_t number) { return "\x8a\x08" + Number(static_cast<std::uint64_t>(number), 8); }
std::string Tuple(const std::string& items) { return "(" + items + "t"; }
std::string Ints(const std::vector<std::int64_t>& numbers) {
  std::string items;
  for (const std::int64_t number : numbers) items += Int(number);
  return Tuple(items);
}
std::string Storage(std::int64_t elements, const std::string& type = "FloatStorage", const std::string& key = "0") {
  return Tuple(Text("storage") + Global("torch", type) + Text(key) + Text("cpu") + Int(elements)) + "Q";
}
std::string View(const std::string& storage, std::int64_t offset, const std::vector<std::int64_t>& shape,
                 const std::vector<std::int64_t>& strides) {
  return Global("torch._utils", "_rebuild_tensor_v2") +
         Tuple(storage + Int(offset) + Ints(shape) + Ints(strides) + "\x89" + Global("collections", "OrderedDict") +
               ")R") +
         "R";
}
std::string Pickle(const std::string& opcodes) { return "\x80\x02" + opcodes + "."; }
std::string Dict(const std::string& items) { return "}(" + items + "u"; }

// Functions that return files of a state dict with one storage "0", which has the given bytes.
std::string Archive(const std::string& pickle, const std::string& storage) {
  return Zip({{"a/data.pkl", pickle}, {"a/byteorder", "little"}, {"a/data/0", storage}, {"a/version", "3\n"}});
}
const std::string kMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
std::string Sequence(const std::string& pickle, const std::string& storage) {
  return kMagic + Pickle("M\xe9\x03") + Pickle(Dict(Text("little_endian") + "\x88")) + pickle +
         Pickle("](" + Text("0") + "e") + Number(storage.size() / 4, 8) + storage;
}
const std::string kFour = Number(0x3f800000, 4) + Number(0x40000000, 4) + Number(0x40400000, 4) + Number(0x40800000, 4);

std::vector<std::string> Numbers(const TorchContent& content) {
  std::vector<std::string> all;
  for (const StoredTensor& tensor : content.tensors)
    all.push_back(tensor.name + Name(tensor.type) + ToString(tensor.shape) +
                  std::string(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()));
  return all;
}

TEST(TorchFile, ReadsWhatPyTorchWrites) {
  const Safetensors wanted(kTestData + "archive_bin.safetensors");
  for (const char* const name : {"archive.bin", "protocol_4.bin", "older.bin"}) {
    const Safetensors file = ReadTorchFile(kTestData + name);
    EXPECT_EQ(file.path(), kTestData + name);
    ASSERT_EQ(file.tensors().size(), wanted.tensors().size()) << name;
    for (const auto& [key, tensor] : wanted.tensors()) {
      const StoredTensor& read = file.At(key);
      EXPECT_EQ(read.type, tensor.type) << name << key;
      EXPECT_EQ(read.shape, tensor.shape) << name << key;
      EXPECT_TRUE(std::ranges::equal(read.bytes, tensor.bytes)) << name << key;
    }
    EXPECT_EQ(file.At("tied").bytes.data(), file.At("table").bytes.data());
    EXPECT_THAT(file.Read("part").ToVector<float>(), ElementsAre(2, 2.5F, 3, 3.5F));
  }
  for (const char* const name : {"python_2.bin", "no_checksums.bin"})
    EXPECT_THAT(ReadTorchFile(kTestData + name).Read("a").ToVector<float>(), ElementsAre(1, 2)) << name;
}

TEST(TorchFile, ReadsTheTestFiles) {
  const std::string pickle = Pickle(Dict(Text("a") + View(Storage(4), 1, {3}, {1})));
  for (const std::string& file : {Archive(pickle, kFour), Sequence(pickle, kFour),
                                  Zip({{"x/data.pkl", pickle}, {"x/data/0", kFour}}, "", true)}) {
    const TorchContent content = Parse(file);
    ASSERT_EQ(content.tensors.size(), 1U);
    EXPECT_EQ(content.tensors[0].name, "a");
    EXPECT_EQ(content.tensors[0].shape, Shape{3});
    EXPECT_EQ(content.tensors[0].bytes.size(), 12U);
  }
}

// Checks that values of other types are left out and reported. Transformers reports them as unexpected keys.
TEST(TorchFile, LeavesOutValuesThatAreNotTensors) {
  std::vector<std::string> others;
  const Safetensors file = ReadTorchFile(kTestData + "values.bin", &others);
  EXPECT_EQ(file.tensors().size(), 1U);
  EXPECT_THAT(file.Read("a").ToVector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(others, ElementsAre("epoch", "rate", "names", "nothing", "large", "optimizer"));
}

TEST(TorchFile, RejectsViewsOutsideTheirStorage) {
  const auto error_of = [](std::int64_t offset, const std::vector<std::int64_t>& shape,
                           const std::vector<std::int64_t>& strides) {
    const std::string pickle = Pickle(Dict(Text("a") + View(Storage(4), offset, shape, strides)));
    const std::string error = ParseError(Archive(pickle, kFour));
    EXPECT_EQ(ParseError(Sequence(pickle, kFour)).empty(), error.empty());
    return error;
  };
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  EXPECT_THAT(error_of(0, {2, 2}, {1, 2}), IsEmpty());
  EXPECT_THAT(error_of(3, {}, {}), IsEmpty());
  EXPECT_THAT(error_of(3, {1, 1}, {9, 9}), IsEmpty());
  EXPECT_THAT(error_of(4, {0}, {1}), IsEmpty());
  EXPECT_THAT(error_of(0, {3, 5}, {1, 0}), IsEmpty());
  for (const std::string& error :
       {error_of(4, {}, {}), error_of(-1, {1}, {1}), error_of(2, {3}, {1}), error_of(0, {2, 2}, {3, 2}),
        error_of(3, {2}, {-1}), error_of(0, {3}, {kLarge}), error_of(kLarge, {1}, {1}), error_of(5, {0}, {1}),
        error_of(0, {2, 2, 2}, {kLarge, kLarge, kLarge})})
    EXPECT_THAT(error, HasSubstr("its storage of 4 elements"));
  EXPECT_THAT(error_of(0, {2}, {1, 1}), HasSubstr("1 axes has 2 strides"));
  EXPECT_THAT(error_of(0, {-1}, {1}), HasSubstr("axis 0 cannot be -1"));
  EXPECT_THAT(error_of(0, {kLarge, kLarge}, {0, 0}), HasSubstr("overflows"));
  EXPECT_THAT(error_of(0, {1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1}), HasSubstr("at most 6 axes"));
  // Memory is bounded by the file size, even if views repeat elements.
  EXPECT_THAT(error_of(0, {1 << 30, 1 << 30}, {0, 0}), HasSubstr("tensor 'a': of shape"));
  std::string many;
  for (int i = 0; i < 8; ++i)
    many += Text("a" + Number(static_cast<std::uint64_t>('0' + i), 1)) + View(Storage(4), 0, {1 << 20, i + 1}, {0, 0});
  EXPECT_THAT(ParseError(Archive(Pickle(Dict(many)), kFour)), HasSubstr("more memory than the file"));
}

TEST(TorchFile, RejectsOtherNames) {
  const auto error_of = [](const std::string& opcodes) {
    const std::string error = ParseError(Archive(Pickle(opcodes), kFour));
    EXPECT_EQ(ParseError(Sequence(Pickle(opcodes), kFour)).empty(), error.empty());
    return error;
  };
  EXPECT_THAT(error_of(Global("os", "system") + Tuple(Text("rm")) + "R"),
              HasSubstr("byte 2 of the pickle: 'os.system'"));
  EXPECT_THAT(error_of(Text("builtins") + Text("eval") + "\x93"), HasSubstr("'builtins.eval' is not allowed"));
  EXPECT_THAT(error_of(Global("torch", "ComplexFloatStorage")),
              HasSubstr("'torch.ComplexFloatStorage' is not allowed"));
  EXPECT_THAT(error_of(Global("transformers.models.bert.modeling_bert", "BertModel") + ")\x81"),
              HasSubstr("BertModel' is not allowed"));
  EXPECT_THAT(error_of("(" + Global("collections", "OrderedDict") + "o"), HasSubstr("the opcode OBJ"));
  EXPECT_THAT(error_of("(ios\nsystem\n"), HasSubstr("the opcode INST"));
  EXPECT_THAT(error_of(Global("collections", "OrderedDict") + ")\x81"), HasSubstr("the opcode NEWOBJ"));
  EXPECT_THAT(error_of("\x82\x01"), HasSubstr("the opcode EXT1"));
  EXPECT_THAT(error_of("\xff"), HasSubstr("0xff is not an opcode"));
  EXPECT_THAT(error_of("c" + std::string(2000, 'x')), HasSubstr("unterminated name"));
}

TEST(TorchFile, RejectsBadPickles) {
  const std::string ordered = Global("collections", "OrderedDict"), good = View(Storage(4), 0, {4}, {1});
  const std::pair<std::string, std::string> cases[] = {
      {"", "it ends with 0 values"},
      {"NN", "it ends with 2 values"},
      {"}(", "it ends with"},
      {"0", "too few values"},
      {"(0", "too few values"},
      {"N(\x85", "too few values"},
      {"t", "no mark"},
      {"1", "no mark"},
      {"](NNu", "are added to a list"},
      {"}(NNe", "are added to a dict"},
      {"}(Nu", "a key without a value"},
      {"Na", "too few values"},
      {"h\1", "value 1 of the memo"},
      {"q\1", "too few values"},
      {"\x80\x01", "protocol 1; 2 to 5"},
      {"X" + Number(0xffffffff, 4), "bytes of text exceed"},
      {"NQ", "a None instead of a storage"},
      {")Q", "a storage is not described"},
      {Storage(-1), "storage '0' has -1 elements"},
      {Storage(std::int64_t{1} << 62), "elements"},
      {Storage(4) + "0" + Storage(3), "storage '0' is described twice"},
      {Storage(4) + "0" + Storage(4, "IntStorage"), "and 4 of I32"},
      {"N)R", "a None is called"},
      {ordered + "NR", "arguments of a function"},
      {ordered + "N\x85R", "a dict of a None"},
      {ordered + "]N\x61\x85R", "items are not pairs"},
      {ordered + "NN\x86R", "a dict of 2 arguments"},
      {Global("torch._utils", "_rebuild_tensor_v2") + ")R", "a tensor of 0 arguments"},
      {Global("torch._utils", "_rebuild_tensor") + Tuple("NNNN") + "R", "a tensor's storage is a None"},
      {Global("torch._utils", "_rebuild_tensor") + Tuple(Storage(4) + "NNN") + "R", "a tensor's offset is a None"},
      {Global("torch._utils", "_rebuild_tensor") + Tuple(Storage(4) + Int(0) + "NN") + "R", "sizes of a tensor are a"},
      {Global("torch._utils", "_rebuild_tensor") + Tuple(Storage(4) + Int(0) + "N\x85" + ")") + "R", "hold a None"},
      {Global("torch._utils", "_rebuild_tensor_v2") +
           Tuple(Storage(4) + Int(0) + Ints({4}) + Ints({1}) + "\x89" + "}" + Dict(Text("neg") + "\x88")) + "R",
       "negated or conjugated"},
      {Global("torch._utils", "_rebuild_parameter") + Tuple("NNN") + "R", "a parameter without a tensor"},
      {"N}b", "a None is given attributes"},
      {good, "holds a tensor instead of a dict"},
      {Dict("N" + good), "the None ''"},
      {Dict(Text("a\n") + good), "the str 'a\\x0a'"},
      {Dict(Text("") + good), "the str ''"},
      {Dict(Text("epoch") + Int(3)), "'epoch' is a int"},
      {Dict(Text("epoch") + Int(3) + Text("model") + Dict(Text("a") + good)), "'model' is a dict"},
      {Dict(Int(3) + good), "the int ''"},
      {Dict(Text("a") + good + Text("a") + good), "two values have the name 'a'"},
      {Dict(Text("a") + good + Text("a") + Int(3)), "two values have the name 'a'"},
  };
  for (const auto& [opcodes, message] : cases) {
    EXPECT_THAT(ParseError(Archive(Pickle(opcodes), kFour)), HasSubstr(message)) << message;
    EXPECT_THAT(ParseError(Sequence(Pickle(opcodes), kFour)), HasSubstr("m.bin: ")) << message;
  }
  // Checks that memory and time are bounded by the number of values, and that nothing is recursive.
  EXPECT_THAT(ParseError(Archive(Pickle(std::string(5'000'000, ')')), kFour)), HasSubstr("more than 4194304 values"));
  EXPECT_THAT(ParseError(Archive(Pickle("N" + std::string(5'000'000, '\x94')), kFour)), HasSubstr("values"));
  EXPECT_THAT(ParseError(Archive(Pickle(std::string(5'000'000, '(')), kFour)), HasSubstr("values"));
  EXPECT_THAT(ParseError(Archive(Pickle(")" + std::string(1'000'000, '\x85')), kFour)), HasSubstr("holds a tuple"));
  // This list contains itself.
  EXPECT_THAT(ParseError(Archive(Pickle("]q\1h\1a"), kFour)), HasSubstr("holds a list"));
}

TEST(TorchFile, RejectsBadContainers) {
  const std::string pickle = Pickle(Dict(Text("a") + View(Storage(4), 0, {4}, {1})));
  const Packed data("a/data.pkl", pickle), storage("a/data/0", kFour);
  EXPECT_THAT(ParseError(Zip({data, storage})), IsEmpty());
  EXPECT_THAT(ParseError(""), HasSubstr("neither a zip archive"));
  EXPECT_THAT(ParseError("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
  EXPECT_THAT(ParseError("PK\3\4"), HasSubstr("not a zip archive"));
  EXPECT_THAT(ParseError(Zip({storage})), HasSubstr("without NAME/data.pkl"));
  EXPECT_THAT(ParseError(Zip({data, {"b/data.pkl", pickle}, storage})), HasSubstr("a second pickle"));
  EXPECT_THAT(ParseError(Zip({data, {"a/constants.pkl", pickle}, storage})), HasSubstr("a TorchScript program"));
  EXPECT_THAT(ParseError(Zip({data, {"a/byteorder", "big"}, storage})), HasSubstr("only little-endian"));
  EXPECT_THAT(ParseError(Zip({data})), HasSubstr("storage '0' is not in"));
  EXPECT_THAT(ParseError(Zip({data, {"a/data/0", kFour + "x"}})), HasSubstr("17 bytes do not fit"));
  Packed spoilt = storage;
  spoilt.method = 8;
  EXPECT_THAT(ParseError(Zip({data, spoilt})), HasSubstr("'a/data/0': is compressed"));
  spoilt = storage;
  spoilt.checksum ^= 1;
  EXPECT_THAT(ParseError(Zip({data, spoilt})), HasSubstr("is damaged: its checksum"));
  spoilt.checksum = 0;  // 0 means that there is no checksum
  EXPECT_THAT(ParseError(Zip({data, spoilt})), IsEmpty());

  const std::string good = Sequence(pickle, kFour);
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string damaged = good;
    damaged.replace(damaged.find(from), from.size(), to);
    return ParseError(damaged);
  };
  EXPECT_THAT(ParseError(good), IsEmpty());
  EXPECT_THAT(ParseError(good + "x"), HasSubstr("1 bytes after the last"));
  EXPECT_THAT(ParseError(pickle), HasSubstr("is not from torch.save"));
  EXPECT_THAT(error_with("M\xe9\x03", "M\xea\x03"), HasSubstr("not version 1001"));
  EXPECT_THAT(error_with("\x88", "\x89"), HasSubstr("only little-endian"));
  EXPECT_THAT(error_with("](" + Text("0") + "e", "](" + Text("1") + "e"), HasSubstr("do not match the state dict"));
  EXPECT_THAT(error_with("](" + Text("0") + "e", "](" + Text("0") + Text("0") + "e"),
              HasSubstr("do not match the state dict"));
  EXPECT_THAT(error_with("](" + Text("0") + "e", "]"), HasSubstr("storage '0' is missing"));
  EXPECT_THAT(error_with("](" + Text("0") + "e", "N"), HasSubstr("a None instead of a list"));
  EXPECT_THAT(error_with(Number(4, 8) + kFour, Number(5, 8) + kFour), HasSubstr("has 5 elements"));
  EXPECT_THAT(error_with(Number(4, 8) + kFour, Number(4, 8)), HasSubstr("storage '0' is truncated"));
  EXPECT_THAT(error_with(Number(4, 8) + kFour, Number(4, 7)), HasSubstr("the file is truncated"));
}

// Checks that damage to an archive is either rejected or does not affect the values. The older format has no checksums.
TEST(TorchFile, RejectsDamage) {
  for (const std::string name : {"archive.bin", "older.bin", "python_2.bin", "no_checksums.bin"}) {
    const std::string file = ReadFile(kTestData + name);
    const std::vector<std::string> wanted = Numbers(Parse(file));
    for (std::size_t size = 0; size < file.size(); ++size) EXPECT_NE(ParseError(file.substr(0, size)), "") << size;
    for (std::size_t bit = 0; bit < 8 * file.size(); bit += 3) {
      std::string flipped = file;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      std::vector<std::string> read;
      if (const std::string error = ErrorOf([&] { read = Numbers(Parse(flipped)); }); !error.empty()) continue;
      if (name == "archive.bin") {
        EXPECT_EQ(read, wanted) << bit;
      }
    }
  }
}

}  // namespace
}  // namespace headlight::torch_file_test
