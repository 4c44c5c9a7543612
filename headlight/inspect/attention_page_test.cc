#include "headlight/inspect/attention_page.h"

#include <gtest/gtest.h>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/inspect/attention_testing.h"

namespace headlight {
namespace {

std::size_t Count(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The content of the page's data element.
Json Data(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return ParseJson(std::string_view(page).substr(at, page.find("</script>", at) - at), "page");
}

TEST(AttentionPage, HoldsTheRecord) {
  AttentionRecord record = SampleRecord({"der", "Hund"}, {"the", "dog"}, 1, 1);
  record.maps[2].weights = {0, 1, 0.5f, 0.4994f};
  const Json data = Data(AttentionPage(record));
  EXPECT_EQ(*data.Find("source"), Json(Json::Array{"der", "Hund"}));
  EXPECT_EQ(*data.Find("target"), Json(Json::Array{"the", "dog"}));
  const Json& cross = data.Find("maps")->As<Json::Array>()->at(2);
  EXPECT_EQ(*cross.Find("kind"), Json("cross"));
  EXPECT_EQ(*cross.Find("layer"), Json(1));
  EXPECT_EQ(*cross.Find("queries"), Json("target"));
  EXPECT_EQ(*cross.Find("keys"), Json("source"));
  EXPECT_EQ(*cross.Find("weights"), Json("00rsdwdv"));  // 0, 1000, 500 and 499 in base 36
  EXPECT_EQ(*data.Find("maps")->As<Json::Array>()->at(1).Find("causal"), Json(true));
}

TEST(AttentionPage, EscapesText) {
  AttentionRecord record = SampleRecord(kHostile, kHostile, 1, 1);
  record.title = "</title><script>alert(1)</script> & {{script}}";
  const std::string page = AttentionPage(record);
  EXPECT_EQ(Count(page, "</script>"), 2u);  // of the data and of the script
  EXPECT_EQ(Count(page, "<script"), 2u);
  EXPECT_EQ(Count(page, "</title>"), 1u);
  EXPECT_EQ(Count(page, "<img"), 0u);
  EXPECT_EQ(Count(page, "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; {{script}}</title>"), 1u);
  EXPECT_EQ(*Data(page).Find("source")->As<Json::Array>()->at(1).As<std::string>(), "<!--<script>");
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
  EXPECT_LT(page.size(), 320'000u);  // 3 x 6 x 8 x 30 x 30 weights of two bytes, and 35 KB of page
}

TEST(AttentionPage, RefusesWhatDoesNotFit) {
  AttentionRecord record = SampleRecord(kGerman, kEnglish, 1, 1);
  record.source_tokens.pop_back();
  EXPECT_THROW(AttentionPage(record), Error);
}

}  // namespace
}  // namespace headlight
