#include "headlight/inspect/attention_page.h"

#include <gtest/gtest.h>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/inspect/attention_testing.h"

namespace headlight::attention_page_test {
namespace {

std::size_t Count(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Returns the content of the page's data element.
Json Data(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return ParseJson(std::string_view(page).substr(at, page.find("</script>", at) - at), "page");
}

const Json& At(const Json& array, std::size_t index) { return array.As<Json::Array>()->at(index); }

TEST(AttentionPage, ContainsTheRecord) {
  AttentionRecord record = SampleRecord({"der", "Hund"}, {"the", "dog"}, 1, 1);
  record.maps[2].weights = {0, 1, 0.25f, 0.00001f};
  record.target_special = {1};
  const Json data = Data(AttentionPage(record));
  const Json& one = At(*data.Find("records"), 0);
  EXPECT_EQ(*one.Find("name"), Json("German to English"));
  EXPECT_EQ(*one.Find("source")->Find("tokens"), Json(Json::Array{"der", "Hund"}));
  EXPECT_EQ(*one.Find("target")->Find("tokens"), Json(Json::Array{"the", "dog"}));
  EXPECT_EQ(*one.Find("target")->Find("special"), Json(Json::Array{1}));
  EXPECT_EQ(one.Find("source")->Find("image"), nullptr);
  const Json& cross = At(*one.Find("maps"), 2);
  EXPECT_EQ(*cross.Find("kind"), Json("cross"));
  EXPECT_EQ(*cross.Find("layer"), Json(1));
  EXPECT_EQ(*cross.Find("queries"), Json("target"));
  EXPECT_EQ(*cross.Find("keys"), Json("source"));
  // The square roots of 0, 1, 0.25 and 0, times 3999, in base 64.
  EXPECT_EQ(*cross.Find("weights"), Json(Json::Array{"AA-ffQAA"}));
  EXPECT_EQ(*At(*one.Find("maps"), 1).Find("causal"), Json(true));
}

TEST(AttentionPage, CompressesRunsOfZeros) {
  AttentionRecord record = SampleRecord(ManyTokens(3), ManyTokens(3), 1, 1);
  record.maps = {record.maps[0]};
  record.maps[0].weights = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const Json data = Data(AttentionPage(record));
  // 3999 is encoded as -f. A run of three zeros is encoded as 4001, -h.
  EXPECT_EQ(*At(*At(*data.Find("records"), 0).Find("maps"), 0).Find("weights"), Json(Json::Array{"-f-h-f-h-f"}));

  record = SampleRecord(ManyTokens(1000), {}, 0, 0);
  AttentionMap diagonal{AttentionKind::encoder_self, 0, 1, 1000, 1000, std::vector<float>(1'000'000)};
  for (std::size_t i = 0; i < 1000; ++i) diagonal.weights[1001 * i] = 1;
  record.maps = {diagonal};
  EXPECT_LT(AttentionPage(record).size(), 130'000U);
}

TEST(AttentionPage, ContainsImagesAndElements) {
  AttentionRecord record = SampleRecord({"class token", "1·1", "1·2"}, {}, 1, 1);
  record.maps = {record.maps[0]};
  record.maps[0].elements = {1, {1, -1, 0}, {0.5f, 0.25f, -0.5f}};
  record.source_image = {Image{1, 2, {0, 1, 2, 253, 254, 255}}, 1, 1, 2};
  const Json data = Data(AttentionPage({&record, 1}, {.title = "cat", .query = 1, .mass = 0.5}));
  const Json& one = At(*data.Find("records"), 0);
  EXPECT_EQ(*one.Find("source")->Find("image"),
            Json(Json::Object{
                {"height", 1}, {"width", 2}, {"pixels", "AAEC_f7_"}, {"first", 1}, {"rows", 1}, {"columns", 2}}));
  const Json& elements = *At(*one.Find("maps"), 0).Find("elements");
  EXPECT_EQ(*elements.Find("size"), Json(1));
  EXPECT_EQ(*elements.Find("query"), Json("_-AAf_"));  // 4094, 0 and 2047
  EXPECT_EQ(*elements.Find("key"), Json("v_n_QA"));    // 3071, 2559 and 1024
  EXPECT_EQ(*data.Find("query"), Json(1));
  EXPECT_EQ(*data.Find("mass"), Json(0.5));
  EXPECT_EQ(*data.Find("slider"), Json(false));
}

TEST(AttentionPage, ReducesALargeImage) {
  AttentionRecord record = SampleRecord({"1·1"}, {}, 1, 1);
  record.maps = {record.maps[0]};
  record.source_image = {Image{400, 1600, std::vector<std::uint8_t>(400 * 1600 * 3)}, 0, 1, 1};
  const Json data = Data(AttentionPage(record));
  const Json& image = *At(*data.Find("records"), 0).Find("source")->Find("image");
  EXPECT_EQ(*image.Find("height"), Json(200));
  EXPECT_EQ(*image.Find("width"), Json(800));
}

TEST(AttentionPage, EscapesText) {
  AttentionRecord record = SampleRecord(kHostile, kHostile, 1, 1);
  record.title = "</title><script>alert(1)</script> & {{script}}";
  const std::string page = AttentionPage(record);
  EXPECT_EQ(Count(page, "</script>"), 2u);  // one for the data and one for the script
  EXPECT_EQ(Count(page, "<script"), 2u);
  EXPECT_EQ(Count(page, "</title>"), 1u);
  EXPECT_EQ(Count(page, "<img"), 0u);
  EXPECT_EQ(Count(page, "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; {{script}}</title>"), 1u);
  EXPECT_EQ(At(*At(*Data(page).Find("records"), 0).Find("source")->Find("tokens"), 1), Json("<!--<script>"));
}

TEST(AttentionPage, IsSelfContained) {
  const std::string page = AttentionPage(SampleRecord(kGerman, kEnglish, 1, 1));
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* outside : {"http:", "https:", " src=", "<link", "@import", "url("}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

TEST(AttentionPage, IsSmall) {
  const std::string page = AttentionPage(SampleRecord(ManyTokens(30), ManyTokens(30), 6, 8));
  EXPECT_LT(page.size(), 340'000u);  // 3 x 6 x 8 x 30 x 30 weights of two bytes, and 70 KB for the page
}

TEST(AttentionPage, RefusesInvalidRecords) {
  AttentionRecord record = SampleRecord(kGerman, kEnglish, 1, 1);
  record.source_tokens.pop_back();
  EXPECT_THROW(AttentionPage(record), Error);
  EXPECT_THROW(AttentionPage(std::span<const AttentionRecord>(), {}), Error);
  // The limit on weights applies to the sum over all records.
  AttentionRecord large = SampleRecord(ManyTokens(5000), {}, 0, 0);
  large.maps = {{AttentionKind::encoder_self, 0, 1, 5000, 5000, std::vector<float>(25'000'000)}};
  const std::vector<AttentionRecord> three(3, large);
  EXPECT_THROW(AttentionPage(three, {}), Error);
}

}  // namespace
}  // namespace headlight::attention_page_test
