#include "headlight/data/detection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/image/decoding/voc.h"

namespace headlight::detection_test {
namespace {

constexpr const char* kCoco = R"({
  "info": {"year": 2026},
  "images": [{"id": 9, "file_name": "b.jpg", "height": 40, "width": 50}, {"id": 4, "file_name": "a.jpg"}],
  "categories": [{"id": 7, "name": "dog"}, {"id": 2, "name": "cat", "supercategory": "animal"}],
  "annotations": [
    {"id": 1, "image_id": 9, "category_id": 7, "bbox": [1, 2, 10.5, 20], "area": 99.5, "iscrowd": 0,
     "segmentation": [[1, 2, 3, 4, 5, 6]]},
    {"id": 2, "image_id": 9, "category_id": 2, "bbox": [5, 5, 0, 4]},
    {"id": 3, "image_id": 9, "category_id": 2, "bbox": [0, 0, 4, 5], "iscrowd": 1}]})";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

struct Sets : testing::Test {
  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder.File(name);
    std::filesystem::create_directories(path.parent_path());
    WriteFile(path.string(), text);
  }
  std::string Voc(const std::string& image, const std::string& label, const std::string& xmax = "9") {
    return "<annotation><filename>" + image + "</filename><object><name>" + label +
           "</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>" + xmax +
           "</xmax><ymax>8</ymax></bndbox></object></annotation>";
  }
  DetectionSet Read(const std::vector<std::string>& names, const std::vector<std::string>& folders = {}) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder.File(name));
    return ReadDetectionSet(paths, folders, labels, rule, ReadVoc);
  }
  std::string ErrorOfCoco(const std::string& text) {
    Write("bad.json", text);
    std::string error = ErrorOf([&] { Read({"bad.json"}); });
    const std::size_t at = error.find(folder.path());
    return at == std::string::npos ? error : error.replace(at, folder.path().size() + 1, "");
  }

  TemporaryFolder folder;
  std::vector<std::string> labels;
  NewLabels rule = NewLabels::added;
};

TEST_F(Sets, OfCoco) {
  Write("set.json", kCoco);
  Write("a.jpg", "");
  Write("images/b.jpg", "");
  const DetectionSet set = Read({"set.json"}, {folder.File("images")});
  EXPECT_THAT(labels, testing::ElementsAre("cat", "dog"));  // in the order of their ids
  ASSERT_EQ(set.examples.size(), 2U);
  EXPECT_EQ(set.boxes, 2);
  EXPECT_EQ(set.without_area, 1);
  const DetectionExample& example = set.examples[0];
  EXPECT_EQ(example.image, folder.File("images/b.jpg"));
  EXPECT_EQ(example.id, 9);
  EXPECT_EQ(example.height, 40);
  EXPECT_EQ(example.width, 50);
  ASSERT_EQ(example.boxes.size(), 2U);
  EXPECT_EQ(example.boxes[0], (LabeledBox{{1, 2, 11.5, 22}, 1, 99.5, false}));
  EXPECT_EQ(example.boxes[1], (LabeledBox{{0, 0, 4, 5}, 0, 20, true}));
  EXPECT_THAT(example.without_area, testing::ElementsAre(LabeledBox{{5, 5, 5, 9}, 0, 0, false}));
  EXPECT_EQ(set.examples[1].image, folder.File("a.jpg"));
  EXPECT_TRUE(set.examples[1].boxes.empty());

  const CocoNames names = ReadCocoNames(folder.File("set.json"));
  EXPECT_THAT(names.images, testing::ElementsAre(std::pair("a.jpg", 4), std::pair("b.jpg", 9)));
  EXPECT_THAT(names.categories, testing::ElementsAre(std::pair("cat", 2), std::pair("dog", 7)));

  const std::uint64_t hash = HashOfDetectionSet(set);
  Write("set.json", Replaced(kCoco, "10.5", "10.25"));
  EXPECT_NE(HashOfDetectionSet(Read({"set.json"}, {folder.File("images")})), hash);
}

TEST(DetectionExamples, HaveTheSizeOfTheDecodedImage) {
  DetectionExample example{.image = "a.jpg", .height = 40, .width = 50};
  EXPECT_EQ(ErrorOf([&] { CheckSize(example, {40, 50}); }), "");
  EXPECT_THAT(ErrorOf([&] {
                CheckSize(example, {50, 40});
              }),
              testing::AllOf(testing::StartsWith("a.jpg: "), testing::HasSubstr("40 x 50 pixels"),
                             testing::HasSubstr("says 50 x 40")));
  example.height = 0;  // unknown
  EXPECT_EQ(ErrorOf([&] { CheckSize(example, {41, 50}); }), "");
  EXPECT_NE(ErrorOf([&] { CheckSize(example, {41, 51}); }), "");
}

TEST_F(Sets, OfPascalVoc) {
  Write("Annotations/1.xml", Voc("1.jpg", "dog"));
  Write("Annotations/2.xml", Voc("2.jpg", "cat"));
  Write("Annotations/3.xml", Voc("3.jpg", "dog", "1"));  // this file has no width
  for (const char* name : {"1", "2", "3"}) Write(std::string("JPEGImages/") + name + ".jpg", "");
  Write("ImageSets/Main/train.txt", "3\n1 -1\n\n");
  const DetectionSet all = Read({"Annotations"});
  EXPECT_THAT(labels, testing::ElementsAre("cat", "dog"));
  EXPECT_EQ(all.examples.size(), 3U);
  EXPECT_EQ(all.boxes, 2);
  EXPECT_EQ(all.without_area, 1);
  EXPECT_EQ(all.examples[0].boxes[0], (LabeledBox{{1, 2, 9, 8}, 1, 48, false}));

  const DetectionSet some = Read({"ImageSets/Main/train.txt"});
  ASSERT_EQ(some.examples.size(), 2U);
  EXPECT_THAT(some.examples[0].image, testing::EndsWith("/JPEGImages/3.jpg"));
  EXPECT_THAT(some.examples[1].image, testing::EndsWith("/JPEGImages/1.jpg"));

  rule = NewLabels::refused;
  labels = {"dog"};
  EXPECT_THAT(ErrorOf([&] { Read({"Annotations"}); }),
              testing::AllOf(testing::HasSubstr("2.xml: 'cat' is not"), testing::HasSubstr("dog")));
}

TEST_F(Sets, ErrorsNameTheProblem) {
  Write("a.jpg", "");
  Write("b.jpg", "");
  EXPECT_EQ(ErrorOfCoco(kCoco), "");
  EXPECT_THAT(ErrorOfCoco(Replaced(kCoco, "a.jpg", "c.jpg")), testing::StartsWith("bad.json: key 'images[1]'"));
  EXPECT_THAT(ErrorOfCoco(Replaced(kCoco, "\"id\": 9", "\"id\": 4")),
              testing::StartsWith("bad.json: key 'images[1].id': two"));
  EXPECT_THAT(ErrorOfCoco(Replaced(kCoco, "\"image_id\": 9", "\"image_id\": 3")),
              testing::StartsWith("bad.json: key 'annotations[0].image_id'"));
  EXPECT_THAT(ErrorOfCoco(Replaced(kCoco, "\"category_id\": 7", "\"category_id\": 3")),
              testing::StartsWith("bad.json: key 'annotations[0].category_id'"));
  EXPECT_THAT(ErrorOfCoco(Replaced(kCoco, "\"id\": 7", "\"id\": 2")),
              testing::StartsWith("bad.json: key 'categories[1]': two"));
  EXPECT_THAT(ErrorOfCoco(Replaced(kCoco, "[1, 2, 10.5, 20]", "[1, 2, 3]")),
              testing::StartsWith("bad.json: key 'annotations[0].bbox': expected"));
  EXPECT_THAT(ErrorOfCoco(Replaced(kCoco, "[1, 2, 10.5, 20]", "[1, 2, 3e9, 20]")),
              testing::StartsWith("bad.json: key 'annotations[0].bbox[2]'"));
  EXPECT_THAT(ErrorOfCoco(Replaced(kCoco, "\"name\": \"dog\"", "\"name\": \"\"")),
              testing::StartsWith("bad.json: key 'categories[0]'"));
  EXPECT_THAT(ErrorOfCoco("{}"), testing::HasSubstr("categories"));
  EXPECT_THAT(ErrorOf([&] { Read({"none.json"}); }), testing::EndsWith("there is no such file"));
  EXPECT_THAT(ErrorOf([&] { Read({"."}); }), testing::EndsWith("no XML file in this folder"));
  EXPECT_THAT(ErrorOf([&] { Read({"bad.json"}, {"/nowhere"}); }), testing::StartsWith("/nowhere: there is no"));
}

}  // namespace
}  // namespace headlight::detection_test
