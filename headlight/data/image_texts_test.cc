#include "headlight/data/image_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"

namespace headlight::image_texts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Decodes a file for tests: returns an image of one pixel with the file's first byte.
Image FirstByte(std::span<const std::byte> file, const std::string& name) {
  Check(!file.empty(), "{}: is empty", name);
  const auto byte = static_cast<std::uint8_t>(file[0]);
  return {.height = 1, .width = 1, .pixels = {byte, byte, byte}};
}

struct ImageTexts : testing::Test {
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder.File(name)).parent_path());
    WriteFile(folder.File(name), text);
  }
  ImageTextList List(const std::string& name, const std::vector<std::string>& folders = {}) {
    return ListImageTexts({folder.File(name)}, folders);
  }
  // Writes a file, and returns the error of reading it, without the file's folder.
  std::string Refusal(const std::string& name, const std::string& text) {
    Write(name, text);
    std::string error = ErrorOf([&] { List(name); });
    for (std::size_t at; (at = error.find(folder.path() + "/")) != std::string::npos;)
      error.erase(at, folder.path().size() + 1);
    return error;
  }
  void SetUp() override {
    for (const char* name : {"a", "b"}) Write(fmt::format("images/{}.jpg", name), name);
  }

  TemporaryFolder folder;
};

TEST_F(ImageTexts, OfTables) {
  Write("a.tsv", "images/b.jpg\ta dog\n\nimages/a.jpg\tein Hund, grün\nimages/b.jpg\tone more\n");
  const ImageTextList tabs = List("a.tsv");
  ASSERT_EQ(tabs.sources.size(), 2U);
  EXPECT_EQ(tabs.sources[0].path, folder.File("images/b.jpg"));
  EXPECT_THAT(tabs.texts[0], ElementsAre("a dog", "one more"));
  EXPECT_THAT(tabs.texts[1], ElementsAre("ein Hund, grün"));

  Write("b.tsv", "caption\timage\na dog\timages/b.jpg\n");
  EXPECT_THAT(List("b.tsv").texts, ElementsAre(ElementsAre("a dog")));
  Write("a.jsonl",
        "{\"path\": \"images/a.jpg\", \"text\": \"x\"}\n\n"
        "{\"image\": \"images/b.jpg\", \"captions\": [\"y\", \"z\"]}\n");
  const ImageTextList lines = List("a.jsonl");
  ASSERT_EQ(lines.sources.size(), 2U);
  EXPECT_THAT(lines.texts[1], ElementsAre("y", "z"));

  Write("a.csv", "file_name,caption\nimages/a.jpg,\"a cat, and a dog\"\n");
  EXPECT_THAT(List("a.csv").texts, ElementsAre(ElementsAre("a cat, and a dog")));

  // An image with two paths is listed twice.
  EXPECT_EQ(ListImageTexts({folder.File("a.tsv"), folder.File("a.csv")}).sources.size(), 3U);
}

TEST_F(ImageTexts, WithNearMisses) {
  Write("a.jsonl",
        "{\"path\": \"images/a.jpg\", \"text\": \"x\", \"hard_negatives\": \"not x\"}\n"
        "{\"path\": \"images/b.jpg\", \"captions\": [\"y\", \"z\"], \"hard_negatives\": [\"not y\", \"not z\"]}\n"
        "{\"path\": \"images/b.jpg\", \"text\": \"w\"}\n");
  const ImageTextList list = List("a.jsonl");
  ASSERT_EQ(list.hard_negatives.size(), 2U);
  EXPECT_THAT(list.hard_negatives[0], ElementsAre("not x"));
  EXPECT_THAT(list.texts[1], ElementsAre("y", "z", "w"));
  EXPECT_THAT(list.hard_negatives[1], ElementsAre("not y", "not z", ""));
  const ImageTextSet set(list, FirstByte);
  EXPECT_EQ(set.hard_negatives(1), list.hard_negatives[1]);
  ImageTextList others = list;
  others.hard_negatives[1][1] = "z z";
  EXPECT_NE(ImageTextSet(others, FirstByte).hash(), set.hash());
  EXPECT_EQ(Refusal("b.jsonl", "{\"path\": \"images/a.jpg\", \"text\": \"x\", \"hard_negatives\": [\"y\", \"z\"]}\n"),
            "b.jsonl:1: key 'hard_negatives': there are 2 hard negatives of 1 texts");
  EXPECT_EQ(Refusal("b.jsonl", "{\"path\": \"images/a.jpg\", \"text\": \"x\", \"hard_negatives\": \" \"}\n"),
            "b.jsonl:1: key 'hard_negatives': the text is empty");
  EXPECT_EQ(Refusal("b.jsonl", "{\"path\": \"images/a.jpg\", \"text\": \"x\", \"near_misses\": \"y\"}\n"),
            "b.jsonl:1: key 'near_misses': it is now called 'hard_negatives'");
}

TEST_F(ImageTexts, OfTablesThatAreWrong) {
  EXPECT_EQ(Refusal("bad.tsv", "images/a.jpg\tx\nimages/a.jpg x\n"),
            "bad.tsv:2: expected the path of an image, a tab and its text");
  EXPECT_THAT(Refusal("bad.tsv", "images/a.jpg\tx\ty\n"), testing::StartsWith("bad.tsv:1: expected the path"));
  EXPECT_EQ(Refusal("bad.tsv", "images/a.jpg\t \n"), "bad.tsv:1: the text is empty");
  EXPECT_EQ(Refusal("bad.tsv", "images/c.jpg\tx\n"), "bad.tsv:1: images/c.jpg: no such file");
  EXPECT_EQ(Refusal("bad.tsv", "\tx\n"), "bad.tsv:1: the path of the image is missing");
  EXPECT_EQ(Refusal("bad.tsv", "\n"), "bad.tsv: there is no image with a text in it");
  EXPECT_THAT(Refusal("bad.tsv", "images/a.jpg\t\xFF\n"), testing::AllOf(HasSubstr("bad.tsv"), HasSubstr("UTF-8")));
  EXPECT_EQ(Refusal("bad.jsonl", "{\"path\": \"images/a.jpg\", \"text\": []}"),
            "bad.jsonl:1: key 'text': there is no text");
  EXPECT_EQ(Refusal("bad.jsonl", "{\"path\": \"images/a.jpg\", \"text\": \"\"}"),
            "bad.jsonl:1: key 'text': the text is empty");
  EXPECT_THAT(Refusal("bad.jsonl", "{\"path\": \"images/a.jpg\", \"text\": [3]}"),
              testing::StartsWith("bad.jsonl:1: key 'text[0]': expected"));
  EXPECT_THAT(Refusal("bad.jsonl", "{\"path\": \"images/a.jpg\"}"),
              testing::StartsWith("bad.jsonl:1: expected one of text, caption, captions, texts"));
  EXPECT_THAT(Refusal("bad.jsonl", "{\"path\": \"images/a.jpg\", "), testing::StartsWith("bad.jsonl:1"));
  EXPECT_THAT(Refusal("bad.csv", "path,text\nimages/a.jpg\n"), HasSubstr("bad.csv:2: 1 field, and"));
  EXPECT_THAT(Refusal("bad.txt", "images/a.jpg\tx\n"), HasSubstr("bad.txt: images and their texts are a .tsv"));
  EXPECT_THAT(ErrorOf([&] { List("none.tsv"); }), testing::EndsWith("none.tsv: no such file or folder"));
}

TEST_F(ImageTexts, OfAFolder) {
  Write("images/a.txt", "a cat\n\neine Katze\n");
  Write("images/b.txt", "a dog");
  Write("images/README.txt", "belongs to no image");
  const ImageTextList list = List("images");
  ASSERT_EQ(list.sources.size(), 2U);
  EXPECT_THAT(list.texts, ElementsAre(ElementsAre("a cat", "eine Katze"), ElementsAre("a dog")));
  EXPECT_THAT(ErrorOf([&] { Write("images/b.txt", "\n"), List("images"); }),
              testing::EndsWith("images/b.txt: there is no text in it"));
  std::filesystem::remove(folder.File("images/b.txt"));
  EXPECT_THAT(ErrorOf([&] { List("images"); }),
              testing::AllOf(HasSubstr("images/b.jpg: there is no "), HasSubstr("images/b.txt next to it")));
}

constexpr const char* kCoco = R"({"images": [{"id": 7, "file_name": "a.jpg"}, {"id": 3, "file_name": "b.jpg"}],
  "annotations": [{"id": 1, "image_id": 3, "caption": "a dog"}, {"id": 2, "image_id": 3, "caption": "the dog\n"}]})";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_F(ImageTexts, OfCoco) {
  Write("captions.json", kCoco);
  const ImageTextList list = List("captions.json", {folder.File("images")});
  ASSERT_EQ(list.sources.size(), 1U);  // a.jpg has no caption
  EXPECT_EQ(list.sources[0].path, folder.File("images/b.jpg"));
  EXPECT_THAT(list.texts[0], ElementsAre("a dog", "the dog\n"));
  EXPECT_THAT(ErrorOf([&] { List("captions.json"); }), HasSubstr("key 'images[0]': there is no image 'a.jpg'"));
  EXPECT_THAT(ErrorOf([&] { List("captions.json", {folder.File("none")}); }),
              HasSubstr("none: there is no such folder"));
  const auto refusal = [&](const std::string& from, const std::string& to) {
    return Refusal("images/bad.json", Replaced(kCoco, from, to));
  };
  EXPECT_EQ(refusal("\"image_id\": 3", "\"image_id\": 4"),
            "images/bad.json: key 'annotations[0].image_id': there is no image 4");
  EXPECT_EQ(refusal("\"id\": 7", "\"id\": 3"), "images/bad.json: key 'images[1].id': two images have the id 3");
  EXPECT_EQ(refusal("\"a dog\"", "\"\""), "images/bad.json: key 'annotations[0].caption': the text is empty");
  EXPECT_THAT(refusal("\"a dog\"", "4"), testing::StartsWith("images/bad.json: key 'annotations[0].caption'"));
  EXPECT_THAT(refusal("caption", "bbox"), HasSubstr("key 'annotations[0].caption': expected a string"));
}

TEST_F(ImageTexts, AsASet) {
  std::string table;
  for (int i = 0; i < 100; ++i) {
    Write(fmt::format("images/{}.png", i), std::string(1, static_cast<char>(i + 1)));
    table += fmt::format("images/{}.png\ttext {}\nimages/{}.png\tmore {}\n", i, i, i, i);
  }
  Write("set.tsv", table);
  const ImageTextList list = List("set.tsv");
  const ImageTextSet all(list, FirstByte);
  EXPECT_EQ(all.size(), 100);
  EXPECT_EQ(all.text_count(), 200);
  const ImageTextSet learned(list, FirstByte, {0.3, 1, false}), held_out(list, FirstByte, {0.3, 1, true});
  EXPECT_EQ(learned.size() + held_out.size(), 100);
  EXPECT_NEAR(static_cast<double>(held_out.size()), 30, 15);
  std::set<std::string> seen;
  for (const ImageTextSet* set : {&learned, &held_out})
    for (std::int64_t i = 0; i < set->size(); ++i) {
      const int number = (*set)[i].pixels[0] - 1;
      EXPECT_THAT(set->texts(i), ElementsAre(fmt::format("text {}", number), fmt::format("more {}", number)));
      EXPECT_THAT(set->name(i), testing::EndsWith(fmt::format("images/{}.png", number)));
      EXPECT_TRUE(seen.insert(set->name(i)).second);
    }
}

TEST_F(ImageTexts, ChangeTheHash) {
  Write("set.tsv", "images/a.jpg\tx\nimages/b.jpg\ty\nimages/b.jpg\tz\n");
  const auto hash = [&] { return ImageTextSet(List("set.tsv"), FirstByte).hash(); };
  const std::uint64_t before = hash();
  EXPECT_EQ(hash(), before);
  Write("set.tsv", "images/a.jpg\tx\nimages/a.jpg\ty\nimages/b.jpg\tz\n");
  EXPECT_NE(hash(), before);
  Write("set.tsv", "images/a.jpg\tx\nimages/b.jpg\ty\nimages/b.jpg\tw\n");
  EXPECT_NE(hash(), before);
  Write("set.tsv", "images/a.jpg\tx\nimages/b.jpg\ty\nimages/b.jpg\tz\n");
  EXPECT_EQ(hash(), before);
  Write("images/a.jpg", "c");
  EXPECT_NE(hash(), before);
}

}  // namespace
}  // namespace headlight::image_texts_test
