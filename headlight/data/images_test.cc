#include "headlight/data/images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"

namespace headlight::images_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Decodes a file for tests: returns an image of one pixel with the file's first byte.
Image FirstByte(std::span<const std::byte> file, const std::string& name) {
  Check(!file.empty(), "{}: is empty", name);
  const auto byte = static_cast<std::uint8_t>(file[0]);
  return {.height = 1, .width = 1, .pixels = {byte, byte, byte}};
}

std::string Idx(std::vector<std::uint8_t> shape, const std::string& values) {
  std::string file = {0, 0, 8, static_cast<char>(shape.size())};
  for (const std::uint8_t side : shape) file += std::string(3, '\0') + static_cast<char>(side);
  return file + values;
}

struct Images : testing::Test {
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder.File(name)).parent_path());
    WriteFile(folder.File(name), text);
  }
  ImageList List(const std::vector<std::string>& names, NewLabels rule = NewLabels::added) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder.File(name));
    return ListLabeledImages(paths, labels, rule);
  }
  std::string Refusal(const std::vector<std::string>& names) {
    return ErrorOf([&] { List(names, labels.empty() ? NewLabels::added : NewLabels::refused); });
  }

  TemporaryFolder folder;
  std::vector<std::string> labels;
};

TEST_F(Images, OfAFolderForEachClass) {
  Write("train/dog/1.png", "a");
  Write("train/cat/2.jpg", "b");
  Write("train/cat/more/1.webp", "c");
  Write("train/cat/notes.txt", "d");
  Write("train/.hidden/3.png", "e");
  const ImageSet set(List({"train"}), FirstByte);
  EXPECT_THAT(labels, ElementsAre("cat", "dog"));
  ASSERT_EQ(set.size(), 3);
  EXPECT_EQ(set.label(0), 0);
  EXPECT_EQ(set.label(2), 1);
  EXPECT_EQ(set[2].pixels[0], 'a');
  EXPECT_THAT(set.name(2), HasSubstr("train/dog/1.png"));
  Write("train/3.png", "f");
  EXPECT_THAT(Refusal({"train"}), HasSubstr("train/3.png: an image must lie in the folder of its class"));
}

TEST_F(Images, OfTables) {
  Write("images/1.png", "a");
  Write("images/2.png", "b");
  Write("a.csv", "path,label\nimages/1.png,10\nimages/2.png,9\n");
  Write("b.tsv", "label\tid\tpath\n9\t7\timages/2.png\n");
  Write("c.jsonl", "{\"file_name\": \"images/1.png\", \"label\": 9}\n");
  const ImageSet set(List({"a.csv", "b.tsv", "c.jsonl"}), FirstByte);
  EXPECT_THAT(labels, ElementsAre("9", "10"));
  ASSERT_EQ(set.size(), 4);
  EXPECT_EQ(set.label(0), 1);
  EXPECT_EQ(set[2].pixels[0], 'b');
  EXPECT_EQ(set.label(3), 0);
  Write("bad.csv", "path,label\nimages/3.png,9\n");
  EXPECT_THAT(Refusal({"bad.csv"}), testing::AllOf(HasSubstr("bad.csv:2"), HasSubstr("images/3.png: no such file")));
  Write("bad.csv", "path,label\nimages/1.png,11\n");
  EXPECT_THAT(Refusal({"bad.csv"}), HasSubstr("'11' is not"));
  Write("bad.tsv", "images/1.png 9\n");
  EXPECT_THAT(Refusal({"bad.tsv"}), HasSubstr("bad.tsv:1: expected the path of an image, a tab and its class"));
}

TEST_F(Images, WithoutClasses) {
  for (const char* name : {"1", "2"}) Write(fmt::format("images/{}.png", name), name);
  Write("a.csv", "title,image\none,images/1.png\ntwo,images/2.png\n");
  Write("b.tsv", "images/2.png\tclass\tmore\nimages/1.png\n");
  const std::vector<ImageSource> listed =
      ListUnlabeledImages({folder.File("a.csv"), folder.File("b.tsv"), folder.File("images")});
  std::string order;
  for (const ImageSource& one : listed) order += one.path.substr(one.path.size() - 5, 1);
  EXPECT_EQ(order, "122112");
  Write("bad.csv", "title\none\n");
  EXPECT_THAT(ErrorOf([&] { ListUnlabeledImages({folder.File("bad.csv")}); }), HasSubstr("bad.csv:2"));
  Write("bad.csv", "image\n");
  EXPECT_THAT(ErrorOf([&] { ListUnlabeledImages({folder.File("bad.csv")}); }), HasSubstr("there is no image"));
  EXPECT_THAT(ErrorOf([&] { ListUnlabeledImages({folder.File("none.csv")}); }), HasSubstr("none.csv"));
}

TEST_F(Images, OfIdxFiles) {
  Write("train-images-idx3-ubyte", Idx({2, 1, 2}, "abcd"));
  Write("train-labels-idx1-ubyte", Idx({2}, std::string("\7\3")));
  const ImageSet set(List({"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}), FirstByte);
  EXPECT_THAT(labels, ElementsAre("3", "7"));
  ASSERT_EQ(set.size(), 2);
  EXPECT_EQ(set[1].pixels, (std::vector<std::uint8_t>{'c', 'c', 'c', 'd', 'd', 'd'}));
  EXPECT_EQ(set.label(0), 1);
  EXPECT_THAT(Refusal({"train-images-idx3-ubyte"}), HasSubstr("must be followed by that of their classes"));
  Write("train-labels-idx1-ubyte", Idx({1}, "\7"));
  EXPECT_THAT(Refusal({"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}), HasSubstr("has 2 images, and "));
}

TEST_F(Images, KeepNoMoreThanTheirMemory) {
  for (int i = 0; i < 10; ++i) Write(fmt::format("train/a/{}.png", i), std::string(1, static_cast<char>('a' + i)));
  int decoded = 0;
  const auto counting = [&](std::span<const std::byte> file, const std::string& name) {
    ++decoded;
    return FirstByte(file, name);
  };
  const ImageList list = List({"train"});
  const ImageSet all(list, counting);
  EXPECT_EQ(decoded, 10);
  const ImageSet none(list, counting, {}, 0);
  EXPECT_EQ(decoded, 10);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(all[i], none[i]);
  EXPECT_EQ(decoded, 20);
  EXPECT_EQ(all.hash(), none.hash());
  Write("train/a/5.png", "");
  EXPECT_THAT(ErrorOf([&] { ImageSet(list, counting); }), HasSubstr("train/a/5.png: is empty"));
  EXPECT_NE(ImageSet(list, counting, {}, 0).hash(), all.hash());
  std::filesystem::remove(folder.File("train/a/5.png"));
  EXPECT_THAT(ErrorOf([&] { ImageSet(list, counting); }), HasSubstr("train/a/5.png"));
}

TEST_F(Images, DamagedOnesAreCountedOrLeftOut) {
  for (int i = 0; i < 4; ++i) Write(fmt::format("train/a/{}.png", i), i % 2 == 0 ? "" : std::to_string(i));
  Write("train/b/4.png", "4");
  const ImageList list = List({"train"});
  const std::string error = ErrorOf([&] { ImageSet(list, FirstByte); });
  EXPECT_EQ(error, fmt::format("{0}/train/a/0.png: is empty; {0}/train/a/2.png: is empty", folder.path()));
  for (const std::int64_t memory : {std::int64_t{0}, ImageSet::kMemory}) {
    std::vector<std::string> skipped;
    const ImageSet set(list, FirstByte, {}, memory, &skipped);
    ASSERT_EQ(set.size(), 3);
    EXPECT_THAT(skipped,
                testing::ElementsAre(HasSubstr("train/a/0.png: is empty"), HasSubstr("train/a/2.png: is empty")));
    EXPECT_EQ(set[1].pixels.front(), '3');
    EXPECT_EQ(set.label(1), 0);
    EXPECT_EQ(set.label(2), 1);
  }
  for (int i = 5; i < 35; ++i) Write(fmt::format("train/b/{}.png", i), "");
  EXPECT_THAT(ErrorOf([&] { ImageSet(List({"train"}), FirstByte); }),
              AllOf(HasSubstr("; 12 more images cannot be read"), testing::Not(HasSubstr("/b/9.png"))));
}

TEST_F(Images, AreSharedByTheirContents) {
  for (int i = 0; i < 200; ++i) Write(fmt::format("train/a/{}.png", i), std::to_string(i % 100));
  const ImageList list = List({"train"});
  const ImageSet learned(list, FirstByte, {0.3, 1, false}), held_out(list, FirstByte, {0.3, 1, true});
  EXPECT_EQ(learned.size() + held_out.size(), 200);
  EXPECT_NEAR(static_cast<double>(held_out.size()), 60, 20);
  EXPECT_EQ(held_out.size() % 2, 0);  // each image occurs twice, and both copies are in the same set
}

}  // namespace
}  // namespace headlight::images_test
