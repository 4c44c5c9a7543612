// Tests reading damaged files and the goldens of tools/make_npz_goldens.py.
#include "headlight/io/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/model_folder.h"
#include "headlight/io/zip_testing.h"

namespace headlight::npz_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using zip_testing::Number;
using zip_testing::Packed;
using zip_testing::Zip;

const std::string kTestData = HEADLIGHT_SOURCE_DIR "/headlight/io/testdata/";

NpzContent Parse(const std::string& file) {
  return ParseNpz(std::as_bytes(std::span(file.data(), file.size())), "m.npz");
}
std::string ParseError(const std::string& file) {
  return ErrorOf([&] { Parse(file); });
}

std::string Npy(const std::string& header, std::size_t bytes, int version = 1) {
  return "\x93NUMPY" + Number(static_cast<std::uint64_t>(version), 1) + Number(0, 1) +
         Number(header.size(), version == 1 ? 2 : 4) + header + std::string(bytes, '\1');
}
const std::string kHeader = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";

TEST(Npz, ReadsWhatNumPyWrites) {
  for (const char* const name : {"stored.npz", "deflated.npz"}) {
    const Safetensors file = ReadNpz(kTestData + name);
    EXPECT_EQ(file.path(), kTestData + name);
    ASSERT_EQ(file.tensors().size(), 3U) << name;
    const Tensor weights = file.Read("alphafold/evoformer//weights");
    EXPECT_EQ(weights.shape(), (Shape{2, 3}));
    EXPECT_THAT(weights.ToVector<float>(), ElementsAre(-0.5F, -0.25F, 0, 0.25F, 0.5F, 0.75F));
    EXPECT_EQ(file.Read("scalar").shape().rank(), 0);
    EXPECT_EQ(file.Read("scalar").data<float>()[0], 7);
    EXPECT_EQ(file.Read("empty").shape(), (Shape{3, 0, 2}));
  }
  const Safetensors versions = ReadNpz(kTestData + "versions.npz");
  for (const int version : {1, 2, 3})
    EXPECT_THAT(versions.Read("version " + std::to_string(version)).ToVector<float>(),
                ElementsAre(static_cast<float>(version), -0.5F));
}

TEST(Npz, OpensAsTheModelInItsNames) {
  const ModelFolder files = OpenModelFolder(kTestData + "stored.npz");
  EXPECT_EQ(files.config["model_type"].String(), "alphafold");
  EXPECT_EQ(files.weights.tensors().size(), 3U);
  // The model type is determined without reading an array.
  EXPECT_EQ(NamesInNpz(kTestData + "stored.npz").size(), 3U);
  const ModelFolder described = OpenModelDescription(kTestData + "stored.npz");
  EXPECT_EQ(described.config["model_type"].String(), "alphafold");
  EXPECT_THAT(described.weights.tensors(), IsEmpty());
  const TemporaryFolder folder;
  WriteFile(folder.File("empty.npz"), Zip({}));
  EXPECT_THAT(ErrorOf([&] { OpenModelFolder(folder.File("empty.npz")); }), HasSubstr("holds no array"));
  EXPECT_THAT(ErrorOf([&] { OpenModelDescription(folder.File("empty.npz")); }), HasSubstr("holds no array"));
  WriteFile(folder.File("other.npz"), Zip({{"a.txt", "a"}}));
  EXPECT_THAT(ErrorOf([&] { OpenModelDescription(folder.File("other.npz")); }), HasSubstr("is not a .npy file"));
  std::filesystem::remove(folder.File("other.npz"));
  EXPECT_THAT(ErrorOf([&] { OpenModelFolder(folder.File("missing.npz")); }), HasSubstr("missing.npz: no such file"));
  WriteFile(folder.File("config.json"), R"({"model_type": "alphafold2"})");
  EXPECT_THAT(ErrorOf([&] { OpenModelFolder(folder.path()); }), HasSubstr("empty.npz: holds the weights"));
}

TEST(Npz, ReadsTheTestArchive) {
  const std::string file = Zip({{"a.npy", Npy(kHeader, 8)}, {"b.npy", Npy(kHeader, 8, 2)}}, "a comment");
  const NpzContent content = Parse(file);
  ASSERT_EQ(content.tensors.size(), 2U);
  EXPECT_EQ(content.tensors[1].name, "b");
  EXPECT_EQ(content.tensors[1].shape, (Shape{2}));
}

TEST(Npz, ReadsLargeArchives) {
  const std::string file = Zip({{"a.npy", Npy(kHeader, 8)}, {"b.npy", Npy(kHeader, 8, 2)}}, "a comment", true);
  const NpzContent content = Parse(file);
  ASSERT_EQ(content.tensors.size(), 2U);
  EXPECT_EQ(content.tensors[1].name, "b");
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string damaged = file;
    damaged.replace(damaged.rfind(from), from.size(), to);
    return ParseError(damaged);
  };
  EXPECT_THAT(error_with("PK\6\6", "PK\6\5"), HasSubstr("zip64 end of the directory"));
  EXPECT_THAT(error_with("PK\6\7" + Number(0, 4), "PK\6\7" + Number(1, 4)), HasSubstr("multi-part"));
  EXPECT_THAT(error_with("PK\6\7", "PK\6\6"), HasSubstr("exceeds its end"));
  EXPECT_THAT(error_with(Number(1, 2) + Number(24, 2), Number(1, 2) + Number(23, 2)),
              HasSubstr("zip64 sizes are missing"));
  EXPECT_THAT(error_with(Number(1, 2) + Number(24, 2), Number(2, 2) + Number(24, 2)),
              HasSubstr("zip64 sizes are missing"));
  EXPECT_THAT(error_with(Number(1, 2) + Number(24, 2), Number(2, 2) + Number(99, 2)),
              HasSubstr("zip64 sizes are missing"));
  // Sums of these fields would overflow.
  const std::size_t index = file.rfind("PK\6\6");
  for (std::size_t field = index + 24; field < index + 56; field += 8) {
    std::string damaged = file;
    damaged.replace(field, 8, Number(~std::uint64_t{3}, 8));
    EXPECT_NE(ParseError(damaged), "") << field;
  }
  const std::size_t extra = file.rfind(Number(1, 2) + Number(24, 2)) + 4;
  for (std::size_t field = extra; field < extra + 24; field += 8) {
    std::string damaged = file;
    damaged.replace(field, 8, Number(~std::uint64_t{3}, 8));
    EXPECT_NE(ParseError(damaged), "") << field;
  }
}

TEST(Npz, RejectsBadArchives) {
  const Packed good("a.npy", Npy(kHeader, 8));
  const auto error_with = [&](const std::function<void(Packed&)>& spoil) {
    Packed spoilt = good;
    spoil(spoilt);
    return ParseError(Zip({spoilt}));
  };
  EXPECT_THAT(error_with([](Packed&) {}), IsEmpty());
  EXPECT_THAT(error_with([](Packed& p) { p.name = "a.txt"; }), HasSubstr("'a.txt': is not"));
  EXPECT_THAT(error_with([](Packed& p) { p.flags = 1; }), HasSubstr("is encrypted"));
  EXPECT_THAT(error_with([](Packed& p) { p.method = 12; }), HasSubstr("compressed with method 12"));
  EXPECT_THAT(error_with([](Packed& p) { p.checksum ^= 1; }), HasSubstr("is damaged: its checksum"));
  EXPECT_THAT(error_with([](Packed& p) { p.local = 1; }), HasSubstr("is not at the offset"));
  EXPECT_THAT(error_with([](Packed& p) { p.local = 0x7fffffff; }), HasSubstr("is not at the offset"));
  EXPECT_THAT(error_with([](Packed& p) { p.compressed = 1 << 20; }), HasSubstr("exceed the archive"));
  EXPECT_THAT(error_with([](Packed& p) { p.size = 7; }), HasSubstr("instead of 7"));
  EXPECT_THAT(error_with([](Packed& p) { p.method = 8; }), HasSubstr("its compressed bytes are damaged"));
  EXPECT_THAT(error_with([](Packed& p) {
                p.method = 8;
                p.size = 0xfffffff0;
              }),
              HasSubstr("bytes cannot hold"));
  EXPECT_THAT(ParseError(Zip({good, good})), HasSubstr("occurs twice"));
  EXPECT_THAT(ParseError(""), HasSubstr("0 bytes are not a zip"));
  EXPECT_THAT(ParseError(std::string(100, 'x')), HasSubstr("end of its directory"));
  // One entry includes the bytes of the next entry.
  std::string bomb = Zip({good, Packed("b.npy", Npy(kHeader, 8))});
  bomb.replace(bomb.find("PK\1\2") + 20, 4, Number(bomb.size() - 35, 4));
  EXPECT_THAT(ParseError(bomb), HasSubstr("overlap other entries"));
}

TEST(Npz, RejectsBadArrays) {
  const auto error_of = [](const std::string& header, std::size_t bytes = 8, int version = 1) {
    return ParseError(Zip({{"a.npy", Npy(header, bytes, version)}}));
  };
  const auto with = [](const std::string& descr, const std::string& order, const std::string& shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + "}";
  };
  EXPECT_THAT(error_of(with("'<f4'", "False", "(2,)")), IsEmpty());
  EXPECT_THAT(error_of(with("'<f8'", "False", "(1,)")), HasSubstr("'a.npy': holds '<f8'"));
  EXPECT_THAT(error_of(with("'>f4'", "False", "(2,)")), HasSubstr("holds '>f4'"));
  EXPECT_THAT(error_of(with("'|O'", "False", "(2,)")), HasSubstr("holds '|O'"));
  EXPECT_THAT(error_of(with("'<f4'", "True", "(2,)")), HasSubstr("is not in C order"));
  EXPECT_THAT(error_of(with("'<f4'", "False", "(3,)")), HasSubstr("do not fit shape [3]"));
  EXPECT_THAT(error_of(with("'<f4'", "False", "(2,)"), 9), HasSubstr("9 bytes of data"));
  EXPECT_THAT(error_of(with("'<f4'", "False", "(-2,)")), HasSubstr("instead of an axis"));
  EXPECT_THAT(error_of(with("'<f4'", "False", "(2")), HasSubstr("its header is damaged"));
  EXPECT_THAT(error_of(with("'<f4'", "False", "(99999999999999999999,)")), HasSubstr("its shape is too large"));
  EXPECT_THAT(error_of(with("'<f4'", "False", "(1099511627776, 1099511627776)")), HasSubstr("its shape is too large"));
  EXPECT_THAT(error_of(with("'<f4'", "False", "(1,1,1,1,1,1,1,1,2)")), HasSubstr("more than 8 axes"));
  EXPECT_THAT(error_of("{'descr': '<f4', 'shape': (2,)}"), HasSubstr("is not a dictionary"));
  EXPECT_THAT(error_of("{'descr': '<f4', 'descr': '<f4'}"), HasSubstr("has descr twice"));
  EXPECT_THAT(error_of("{'other': '<f4'}"), HasSubstr("unknown key 'other'"));
  EXPECT_THAT(error_of("{'descr': '<f4"), HasSubstr("unterminated string"));
  EXPECT_THAT(error_of(kHeader + "x"), HasSubstr("is not a dictionary"));
  EXPECT_THAT(error_of(kHeader, 8, 4), HasSubstr("version 4"));
  EXPECT_THAT(ParseError(Zip({{"a.npy", "NUMPY"}})), HasSubstr("is not an .npy file"));
  EXPECT_THAT(ParseError(Zip({{"a.npy", "\x93NUMPY" + Number(1, 2) + Number(999, 2) + "{}"}})),
              HasSubstr("is cut off"));
}

// Checks that damage is either rejected or does not affect the values.
TEST(Npz, DamageIsRejectedOrChangesNoNumber) {
  for (const char* const name : {"stored.npz", "deflated.npz", "versions.npz"}) {
    const std::string file = ReadFile(kTestData + name);
    const auto numbers = [](const NpzContent& content) {
      std::vector<std::string> all;
      for (const StoredTensor& tensor : content.tensors)
        all.push_back(ToString(tensor.shape) +
                      std::string(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()));
      return all;
    };
    const std::vector<std::string> wanted = numbers(Parse(file));
    for (std::size_t size = 0; size < file.size(); ++size) EXPECT_NE(ParseError(file.substr(0, size)), "") << size;
    int accepted = 0;
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
      std::string flipped = file;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      std::vector<std::string> read;
      if (const std::string error = ErrorOf([&] { read = numbers(Parse(flipped)); }); !error.empty()) continue;
      ++accepted;
      EXPECT_EQ(read, wanted) << name << bit;
    }
    EXPECT_LT(accepted, static_cast<int>(4 * file.size())) << name;
  }
}

}  // namespace
}  // namespace headlight::npz_test
