#include "headlight/image/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/file.h"
#include "headlight/base/gzip_testing.h"
#include "headlight/base/test_support.h"

namespace headlight::idx_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string Idx(const std::vector<int>& shape, const std::string& values, char type = 8) {
  std::string file = {0, 0, type, static_cast<char>(shape.size())};
  for (const int axis : shape)
    file += {static_cast<char>(axis >> 24), static_cast<char>(axis >> 16), static_cast<char>(axis >> 8),
             static_cast<char>(axis)};
  return file + values;
}

struct IdxTest : testing::Test {
  std::string Write(const std::string& text) const {
    WriteFile(path, text);
    return path;
  }
  std::string WriteGzip(const std::string& text) const {
    WriteFile(path, Gzip(text));
    return path;
  }
  std::string Refused(const std::string& text) const {
    Write(text);
    return ErrorOf([&] { ReadIdx(path, 1000); });
  }

  TemporaryFolder folder;
  const std::string path = folder.File("t-idx3-ubyte");
};

TEST_F(IdxTest, ReadsImagesAndLabelsPlainOrCompressed) {
  const std::string gray = Idx({2, 2, 3}, "abcdefghijkl");
  for (const bool compressed : {false, true}) {
    const IdxImages images(compressed ? WriteGzip(gray) : Write(gray));
    ASSERT_EQ(images.count(), 2);
    EXPECT_EQ(images[1], (Image{2,
                                3,
                                {'g', 'g', 'g', 'h', 'h', 'h', 'i', 'i', 'i',  //
                                 'j', 'j', 'j', 'k', 'k', 'k', 'l', 'l', 'l'}}));
  }
  const IdxImages color(Write(Idx({2, 1, 1, 3}, "abcdef")));
  EXPECT_EQ(color[1], (Image{1, 1, {'d', 'e', 'f'}}));
  EXPECT_THAT(ReadIdxLabels(Write(Idx({3}, {0, 9, 4}))), testing::ElementsAre(0, 9, 4));
}

TEST_F(IdxTest, RecognizesTheNames) {
  for (const char* name : {"train-images-idx3-ubyte", "a/t10k-labels.idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz"})
    EXPECT_TRUE(IsIdxPath(name)) << name;
  for (const char* name : {"idx3-ubyte", "a-idx3-ubyte.png", "a-idx-ubyte", "cat.jpg", ""})
    EXPECT_FALSE(IsIdxPath(name)) << name;
}

TEST_F(IdxTest, RefusesDamagedAndTooLargeFiles) {
  const std::string whole = Idx({2, 2, 3}, "abcdefghijkl");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THAT(Refused(whole.substr(0, size)), testing::StartsWith(path + ": ")) << size;
  EXPECT_THAT(Refused(whole + "m"), EndsWith("data after its last value"));
  EXPECT_THAT(Refused("abcd"), EndsWith("not an IDX file"));
  EXPECT_THAT(Refused(Idx({3}, "abc", 0x0D)), HasSubstr("type 0x0d"));
  EXPECT_THAT(Refused(Idx({1, 1, 1, 1, 1}, "a")), HasSubstr("with 5 axes"));
  EXPECT_THAT(Refused(Idx({0, 3}, "")), HasSubstr("an axis of 0"));
  EXPECT_THAT(Refused(Idx({-1, -1, -1, -1}, "abc")), HasSubstr("more than 1000 bytes"));
  EXPECT_THAT(Refused(Idx({11, 10, 10}, "abc")), HasSubstr("more than 1000 bytes"));
  Write(Idx({1 << 20}, "abc"));  // must fail before 1 MiB is allocated
  EXPECT_THAT(ErrorOf([&] { ReadIdx(path); }), EndsWith("does not fit in 11 bytes"));
  std::string compressed = ReadFile(WriteGzip(whole));
  EXPECT_THAT(Refused(compressed.substr(0, compressed.size() - 6)), testing::StartsWith(path + ": "));
  compressed[compressed.size() - 6] ^= 1;  // the checksum
  EXPECT_THAT(Refused(compressed), HasSubstr("damaged"));
  EXPECT_THAT(ErrorOf([&] { ReadIdx(folder.path()); }), testing::StartsWith(folder.path() + ": "));
  EXPECT_THAT(ErrorOf([&] { ReadIdx(folder.File("none")); }), EndsWith("No such file or directory"));
  EXPECT_THAT(ErrorOf([&] { IdxImages(Write(Idx({3}, "abc"))); }), HasSubstr("images have [images, height"));
  EXPECT_THAT(ErrorOf([&] { ReadIdxLabels(Write(whole)); }), EndsWith("labels have one"));
}

}  // namespace
}  // namespace headlight::idx_test
