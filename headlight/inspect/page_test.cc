// The page in a browser: the checks of page_selftest.js in headless Chromium.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "headlight/base/file.h"
#include "headlight/inspect/attention_page.h"
#include "headlight/inspect/attention_testing.h"

namespace headlight {
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

// The record that page_selftest.js expects.
std::string SelfTestPage() {
  AttentionRecord record = SampleRecord({"der", "</script><script>window.hacked=1</script>", "Hund", "<!--", "."},
                                        {"<s>", "the", "مرحبا", "dog"}, 2, 3);
  record.title = "<b>bold</b> & {{data}}";
  AttentionMap& cross = record.maps.back();
  const std::vector<float> planted = {0.3f, 0.3f, 0.1234f, 0.2f, 0.0766f, 0, 0, 0, 1, 0};
  std::copy(planted.begin(), planted.end(), cross.weights.begin() + 2 * cross.queries * cross.keys);
  return AttentionPage(record) + "<script>" +
         ReadFile(HEADLIGHT_SOURCE_DIR "/headlight/inspect/testdata/page_selftest.js") + "</script>";
}

// Opens the page in a browser with these flags, and returns the lines that the script wrote.
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

void ExpectPasses(const std::string& lines) {
  EXPECT_EQ(lines.find("NOT OK"), std::string::npos) << lines;
  EXPECT_NE(lines.find("\n52 checks"), std::string::npos) << lines;
}

TEST_F(PageTest, WorksOnADeskInLight) { ExpectPasses(SelfTest(SelfTestPage(), "light", kLight)); }

TEST_F(PageTest, WorksOnAPhoneInDark) { ExpectPasses(SelfTest(SelfTestPage(), "dark", kDark)); }

TEST_F(PageTest, NoticesAPlantedDefect) {
  std::string page = SelfTestPage();
  const std::string mask = "map.causal && key > query";
  ASSERT_NE(page.find(mask), std::string::npos);
  page.replace(page.find(mask), mask.size(), "false");
  EXPECT_NE(SelfTest(page, "light", kLight).find("NOT OK a later token is hidden"), std::string::npos);
}

}  // namespace
}  // namespace headlight
