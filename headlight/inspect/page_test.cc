// Tests the page in headless Chromium, with the checks of page_selftest.js.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/inspect/attention_page.h"
#include "headlight/inspect/attention_testing.h"
#include "headlight/inspect/structure_page.h"
#include "headlight/inspect/structure_testing.h"

namespace headlight::page_test {
namespace {

namespace fs = std::filesystem;

std::string Run(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), count);
  pclose(pipe);
  return output;
}

std::string Browser() {
  const std::string found = Run("command -v chromium || command -v chromium-browser || command -v google-chrome");
  return found.substr(0, found.find('\n'));
}

// Adds a self-test of testdata/ that is specific to the record.
std::string WithSelfTest(const std::string& page, const std::string& name) {
  const std::string folder = HEADLIGHT_SOURCE_DIR "/headlight/inspect/testdata/";
  return page + "<script>" + ReadFile(folder + "page_testing.js") + ReadFile(folder + name) + "</script>";
}

AttentionRecord TextRecord() {
  AttentionRecord record = SampleRecord({"der", "</script><script>window.hacked=1</script>", "Hund", "<!--", "."},
                                        {"<s>", "the", "مرحبا", "dog"}, 2, 3);
  record.title = "<b>bold</b> & {{data}}";
  record.source_special = {0};
  record.target_special = {2};
  AttentionMap& cross = record.maps.back();
  const std::vector<float> planted = {0.3f, 0.3f, 0.1234f, 0.2f, 0.0766f, 0, 0, 0, 1, 0};
  std::copy(planted.begin(), planted.end(), cross.weights.begin() + 2 * cross.queries * cross.keys);
  return record;
}

std::string SelfTestPage() { return WithSelfTest(AttentionPage(TextRecord()), "page_selftest.js"); }

// Returns a record with a class token and 2 x 3 cells of one color. Each cell attends to the next cell. The class
// token attends to cells in layer 1, and half to itself in layer 2.
AttentionRecord ImageRecord() {
  AttentionRecord record{"vit", {"class token", "1·1", "1·2", "1·3", "2·1", "2·2", "2·3"}, {}, {}};
  Image image{40, 60};
  for (int pixel = 0; pixel < 40 * 60; ++pixel) image.pixels.insert(image.pixels.end(), {200, 100, 50});
  record.source_image = {image, 1, 2, 3};
  record.source_special = {0};
  for (int layer = 0; layer < 2; ++layer) {
    AttentionMap map{AttentionKind::encoder_self, layer, 2, 7, 7, std::vector<float>(2 * 7 * 7)};
    for (int head = 0; head < 2; ++head) {
      const std::vector<float> first = layer == 0 ? std::vector<float>{0, 0.4f, 0.2f, 0.1f, 0.3f, 0, 0}
                                                  : std::vector<float>{0.5f, 0, 0, 0, 0, 0, 0.5f};
      std::copy(first.begin(), first.end(), map.weights.begin() + head * 49);
      for (int query = 1; query < 7; ++query) map.weights[head * 49 + query * 7 + query % 6 + 1] = 1;
    }
    record.maps.push_back(map);
  }
  // The first query is (1, 2); the first keys are (0, 0), (1, 0) and (0, -1), and the other keys are 0.
  AttentionElements elements{2, std::vector<float>(2 * 7 * 2), std::vector<float>(2 * 7 * 2)};
  for (int head = 0; head < 2; ++head) {
    elements.query[head * 14] = elements.key[head * 14 + 2] = 1;
    elements.query[head * 14 + 1] = 2;
    elements.key[head * 14 + 5] = -1;
  }
  record.maps[0].elements = elements;
  AddRollout(record);
  return record;
}

// Returns a record with 2 x 3 gray cells and two boxes. The first box attends to the upper left cell, the second box to
// the lower right cell.
AttentionRecord BoxRecord() {
  AttentionRecord record{"detr", {"1·1", "1·2", "1·3", "2·1", "2·2", "2·3"}, {"dog 0.90", "cat 0.80"}, {}};
  record.source_image = {Image{40, 60, std::vector<std::uint8_t>(40 * 60 * 3, 100)}, 0, 2, 3};
  record.target_boxes = {{0, 0, 30, 40}, {30, 20, 90, 60}};  // the second box extends beyond the edge
  record.maps.push_back({AttentionKind::cross, 0, 1, 2, 6, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}});
  record.maps.push_back({AttentionKind::encoder_self, 0, 1, 6, 6, std::vector<float>(36)});
  for (int cell = 0; cell < 6; ++cell) record.maps[1].weights[cell * 6 + cell] = 1;
  return record;
}

// Returns the relevance of 2 x 3 gray cells for the score of a text.
AttentionRecord RelevanceRecord() {
  AttentionRecord record{"clip", {"1·1", "1·2", "1·3", "2·1", "2·2", "2·3"}, {"two dogs"}, {}};
  record.source_image = {Image{40, 60, std::vector<std::uint8_t>(40 * 60 * 3, 100)}, 0, 2, 3};
  record.maps.push_back({AttentionKind::cross, 0, 1, 1, 6, {0, 0.3f, 0.1f, 0.6f, 0, 0}});
  record.maps.push_back({AttentionKind::cross, 1, 1, 1, 6, {0, 0, 0, 1, 0, 0}});
  for (AttentionMap& map : record.maps) map.relevance = true;
  return record;
}

// Returns a record with a gray image, a region on the left, a region on the right, and two words.
AttentionRecord RegionRecord() {
  AttentionRecord record{"vilbert", {"whole image", "dog", "cat"}, {"a", "dog"}, {}};
  record.source_image = {Image{40, 60, std::vector<std::uint8_t>(40 * 60 * 3, 100)}, 0, 20, 30};
  record.source_image->boxes = {{0, 0, 60, 40}, {0, 0, 24, 30}, {30, 10, 70, 50}};
  record.maps.push_back({AttentionKind::text_to_image, 0, 1, 2, 3, {0.25f, 0.25f, 0.5f, 0, 1, 0}});
  record.maps.push_back({AttentionKind::image_to_text, 0, 1, 3, 2, {1, 0, 0.75f, 0.25f, 0.25f, 0.75f}});
  return record;
}

// Returns a record with cells that attend to words. A start token, which is not a cell, precedes the cells. The last
// cell has no token.
AttentionRecord CodesRecord() {
  AttentionRecord record{"mini", {"a", "dog"}, {"start", "1·1", "1·2", "2·1"}, {}};
  record.target_image = {Image{40, 40, std::vector<std::uint8_t>(40 * 40 * 3, 100)}, 1, 2, 2};
  record.maps.push_back({AttentionKind::cross, 0, 1, 4, 2, {0.5f, 0.5f, 1, 0, 0.25f, 0.75f, 0, 1}});
  record.maps.push_back(
      {AttentionKind::decoder_self, 0, 1, 4, 4, {1, 0, 0, 0, 0.5f, 0.5f, 0, 0, 0, 0, 1, 0, 0, 0.75f, 0, 0.25f}});
  return record;
}

std::vector<AttentionRecord> BeforeAndAfter() {
  AttentionRecord before{"before", {"a", "b"}, {}, {{AttentionKind::encoder_self, 0, 1, 2, 2, {1, 0, 0, 1}}}};
  before.maps[0] = {AttentionKind::encoder_self, 0, 2, 2, 2, {1, 0, 0, 1, 1, 0, 0, 1}};
  AttentionRecord after = before;
  after.title = "after";
  after.maps[0].weights = {0.25f, 0.75f, 1, 0, 0, 1, 1, 0};
  return {before, after};
}

AttentionRecord LongRecord() {
  constexpr int kTokens = 2000;
  AttentionRecord record{"long", {}, {}, {}};
  for (int token = 0; token < kTokens; ++token) record.source_tokens.push_back(fmt::format("t{}", token));
  record.source_special = {7};
  AttentionMap map{AttentionKind::encoder_self, 0, 2, kTokens, kTokens, std::vector<float>(2 * kTokens * kTokens)};
  for (std::size_t row = 0; row < 2 * kTokens; ++row)
    map.weights[row * kTokens + (2 * kTokens - 1 - row) % kTokens] = 1;
  record.maps.push_back(map);
  return record;
}

// Opens the page in a browser with these flags, and returns the lines that the script printed.
std::string SelfTest(const std::string& page, const std::string& theme, const std::string& flags) {
  std::string folder = fs::temp_directory_path() / "headlight_page_XXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  WriteFile(folder + "/page.html", page);
  const std::string document =
      Run("timeout 120 " + Browser() + " --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir=" +
          folder + "/profile " + flags + " --dump-dom 'file://" + folder + "/page.html#" + theme + "' 2>/dev/null");
  fs::remove_all(folder);
  const std::string begin = "<pre id=\"selftest\">";
  const std::size_t at = document.find(begin);
  return at == std::string::npos ? "the page did not run: " + document.substr(0, 2000)
                                 : document.substr(at + begin.size(), document.find("</pre>", at) - at - begin.size());
}

class PageTest : public testing::Test {
  void SetUp() override {
    if (Browser().empty()) GTEST_SKIP() << "no Chromium is installed (the package `chromium`)";
  }
};

constexpr char kLight[] = "--window-size=1280,900 --blink-settings=preferredColorScheme=1";
constexpr char kDark[] = "--window-size=390,900 --blink-settings=preferredColorScheme=0";

void ExpectPasses(const std::string& lines, int checks) {
  EXPECT_EQ(lines.find("NOT OK"), std::string::npos) << lines;
  EXPECT_NE(lines.find(fmt::format("\n{} checks", checks)), std::string::npos) << lines;
}

// Runs the page in a desktop browser with the light theme, and in a mobile browser with the dark theme.
void ExpectWorks(const std::string& page, int checks) {
  ExpectPasses(SelfTest(page, "light", kLight), checks);
  ExpectPasses(SelfTest(page, "dark", kDark), checks);
}

TEST_F(PageTest, ShowsTexts) { ExpectWorks(SelfTestPage(), 64); }

TEST_F(PageTest, ShowsImages) { ExpectWorks(WithSelfTest(AttentionPage(ImageRecord()), "page_image_selftest.js"), 39); }

TEST_F(PageTest, ShowsBoxes) { ExpectWorks(WithSelfTest(AttentionPage(BoxRecord()), "page_boxes_selftest.js"), 13); }

TEST_F(PageTest, ShowsRelevance) {
  ExpectWorks(WithSelfTest(AttentionPage(RelevanceRecord()), "page_relevance_selftest.js"), 6);
}

TEST_F(PageTest, ShowsRegions) {
  ExpectWorks(WithSelfTest(AttentionPage(RegionRecord()), "page_regions_selftest.js"), 10);
}

TEST_F(PageTest, ShowsWhichCellsLookAtAWord) {
  ExpectWorks(
      WithSelfTest(AttentionPage(std::vector{CodesRecord()}, {.title = "mini", .query = 3}), "page_codes_selftest.js"),
      10);
}

TEST_F(PageTest, ShowsTwoModels) {
  ExpectWorks(WithSelfTest(AttentionPage(BeforeAndAfter(), {.title = "two"}), "page_records_selftest.js"), 11);
}

TEST_F(PageTest, ShowsATraining) {
  ExpectWorks(
      WithSelfTest(AttentionPage(BeforeAndAfter(), {.title = "run", .slider = true}), "page_records_selftest.js"), 12);
}

TEST_F(PageTest, ShowsTwoThousandTokens) {
  ExpectWorks(WithSelfTest(AttentionPage(LongRecord()), "page_long_selftest.js"), 19);
}

TEST_F(PageTest, ShowsAStructure) {
  ExpectWorks(WithSelfTest(StructurePage(SampleStructure()), "page_structure_selftest.js"), 31);
}

TEST_F(PageTest, NoticesAPlantedDefect) {
  std::string page = SelfTestPage();
  const std::string mask = "map.causal && key > query";
  ASSERT_NE(page.find(mask), std::string::npos);
  page.replace(page.find(mask), mask.size(), "false");
  EXPECT_NE(SelfTest(page, "light", kLight).find("NOT OK a later token is hidden"), std::string::npos);
}

}  // namespace
}  // namespace headlight::page_test
