#include "headlight/data/text_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/data/testing.h"
#include "headlight/data/text_reader.h"

namespace headlight::text_pairs_test {
namespace {

using testing::HasSubstr;

TEST(TextPairs, AreReadFromTabsAndFromJsonLines) {
  const TestFolder folder;
  const std::vector<TextPair> pairs =
      ReadTextPairs({folder.Write("a.tsv", "one\tun\n\ntwo words\tdeux mots\n"),
                     folder.Write("b.jsonl", R"({"source": "a\tb", "id": 7, "target": "{}"})")});
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[1].source + "|" + pairs[1].target, "two words|deux mots");
  EXPECT_THAT(pairs[1].location, testing::EndsWith("a.tsv:3"));
  EXPECT_EQ(ReadTextPairs({folder.Write("c.csv", "id,source,target\n1,\"a,\nb\",c\n")})[0].source, "a,\nb");
  EXPECT_EQ(pairs[2].source + "|" + pairs[2].target, "a\tb|{}");
}

// Checks translations and summaries in the formats of datasets on the Hugging Face Hub.
TEST(TextPairs, HaveTheColumnsOfPublishedSets) {
  const TestFolder folder;
  const auto read = [&](const char* name, const char* text, const PairColumns& columns = {}) {
    const std::vector<TextPair> pairs = ReadTextPairs({folder.Write(name, text)}, columns);
    EXPECT_EQ(pairs.size(), 1U);
    return pairs[0].source + "|" + pairs[0].target;
  };
  const char* const translation = R"({"id": 1, "translation": {"de": "Ein Hund.", "en": "A dog.", "fr": "Un chien."}})";
  EXPECT_EQ(read("a.jsonl", translation, {"de", "en"}), "Ein Hund.|A dog.");
  EXPECT_EQ(read("a.jsonl", translation, {"fr", "de"}), "Un chien.|Ein Hund.");
  EXPECT_EQ(read("a.jsonl", R"({"document": "A long one.", "summary": "One."})"), "A long one.|One.");
  EXPECT_EQ(read("a.jsonl", R"({"article": "A long one.", "highlights": "One.", "id": "x"})"), "A long one.|One.");
  EXPECT_EQ(read("a.csv", "text,summary\nA long one.,One.\n"), "A long one.|One.");
  EXPECT_EQ(read("a.jsonl", R"({"dialogue": "A long one.", "title": "One."})", {"dialogue", "title"}),
            "A long one.|One.");
  EXPECT_EQ(read("a.jsonl", R"({"dialogue": "A long one.", "summary": "One."})", {"dialogue", ""}), "A long one.|One.");
  EXPECT_THAT(
      ErrorOf([&] { read("a.jsonl", translation); }),
      HasSubstr("a.jsonl:1: key 'translation': `source_column` must name the language to read: there is 'de, en, fr'"));
  EXPECT_THAT(ErrorOf([&] { read("a.jsonl", translation, {"de", "it"}); }), HasSubstr("key 'translation.it'"));
  EXPECT_THAT(ErrorOf([&] { read("a.jsonl", R"({"document": "A"})"); }), HasSubstr("expected target or summary"));
  EXPECT_THAT(ErrorOf([&] { read("a.txt", "a\tb\n", {"de", "en"}); }), HasSubstr("a.txt: it has no header with both"));
  EXPECT_THAT(ErrorOf([&] { read("a.tsv", "a\tb\n", {"de", "en"}); }), HasSubstr("a.tsv: it has no header with both"));
  EXPECT_THAT(ErrorOf([&] { read("a.jsonl", translation, {"de", "de"}); }), HasSubstr("are the same column, 'de'"));
  EXPECT_EQ(read("a.tsv", "id\tsummary\tdocument\n7\tOne.\tA long one.\n"), "A long one.|One.");
  EXPECT_EQ(read("a.tsv", "en\tde\nA dog.\tEin Hund.\n", {"de", "en"}), "Ein Hund.|A dog.");
  EXPECT_EQ(read("a.tsv", "source\tof a river\n"), "source|of a river");
  EXPECT_EQ(read("a.csv", ",source,target\n0,a,b\n"), "a|b");
  EXPECT_EQ(read("A.JSON", R"([{"source": "a", "target": "b"}])"), "a|b");
}

TEST(TextPairs, AnEmptySideInTheFirstLineIsNoHeader) {
  const TestFolder folder;
  for (const char* line : {"a b\t\n", "\ta b\n", "\t\n"}) {
    PairReader reader(folder.Write("a.tsv", std::string(line) + "c\td\n"));
    EXPECT_THAT(reader.Next().value().location, testing::EndsWith("a.tsv:1"));
    EXPECT_EQ(reader.Next().value().target, "d");
  }
  TextReader texts(folder.Write("b.tsv", "a b\t\nc\td\n"), {.asked = TextsAsked::texts});
  EXPECT_EQ(texts.Next().value().text, "a b\t");
  EXPECT_THAT(ErrorOf([&] { TextReader(folder.Write("c.csv", "a,,b\n1,2,3\n")); }),
              HasSubstr("c.csv:1: expected text"));
}

TEST(SideReader, ReadsOneSideOfTwoFilesOrOfPairs) {
  const TestFolder folder;
  const auto read = [](SideReader reader) {
    std::string texts;
    while (const auto text = reader.Next()) texts += std::string(*text) + "|";
    return texts + std::to_string(reader.number());
  };
  const std::string source = folder.Write("a", "one\n\ntwo\n"), target = folder.Write("b", "un\n\ndeux\n");
  EXPECT_EQ(read({source, target, false}), "one||two|3");
  EXPECT_EQ(read({source, target, true}), "un||deux|3");
  const std::string pairs = folder.Write("c.jsonl", R"({"source": "one\nmore", "target": "un\tde plus"})"
                                                    "\n"
                                                    R"({"source": "", "target": "deux"})");
  EXPECT_EQ(read({pairs, "", false}), "one more||2");
  EXPECT_EQ(read({pairs, "", true}), "un de plus|deux|2");
  EXPECT_THAT(ErrorOf([&] { SideReader(source, target, false, {"de", "en"}); }), HasSubstr("have no names"));
}

TEST(TextPairs, NameTheLineThatIsNone) {
  const TestFolder folder;
  for (const auto& [name, text, error] : std::vector<std::array<const char*, 3>>{
           {"a", "one\tun\ntwo", "a:2: expected a source, a tab and its target"},
           {"a", "one\tun\tuno", "a:1: expected"},
           {"a", " \t \n", "a: there is no text in it"},
           {"a", "one\t", "a:1: the target is empty"},
           {"a.jsonl", "{\"source\": \"one\"}", "a.jsonl:1: expected target or summary or highlights"},
           {"a.jsonl", "{\"source\": \"\", \"target\": \"x\"}", "a.jsonl:1: the source is empty"},
           {"a.jsonl", "one\tun", "a.jsonl:1"}})
    EXPECT_THAT(ErrorOf([&, name = name, text = text] { ReadTextPairs({folder.Write(name, text)}); }),
                HasSubstr(error));
}

}  // namespace
}  // namespace headlight::text_pairs_test
