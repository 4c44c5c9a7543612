// Checks that every truncated file is either readable or causes an error with a one-line message.
#include "headlight/recipes/check_rows.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/scratch_folder.h"
#include "headlight/recipes/check_data.h"

namespace headlight::check_rows_test {
namespace {

TEST(CheckRows, ReadOrRefuseTruncatedFiles) {
  const std::pair<const char*, const char*> files[] = {
      {"a.json", "[{\"text\": \"\\\"a\\\"\", \"label\": 1.5},\n {\"sentence1\": \"ä\", \"sentence2\": \"b\"}]\n"},
      {"a.jsonl", "{\"translation\": {\"de\": \"a\", \"en\": \"b\"}}\n{\"tokens\": [\"a\"], \"tags\": [\"O\"]}\n"},
      {"b.json",
       "{\"data\": [{\"paragraphs\": [{\"context\": \"a\", \"qas\": [{\"question\": \"b\", \"answers\": "
       "[{\"text\": \"a\", \"answer_start\": 0}]}]}]}]}"},
      {"a.csv", "text,labels\n\"a\nb\",\"x,y\"\nc,\n"},
      {"a.tsv", "source\ttarget\na\tb\n\tc\td\n"},
      {"a.txt", "\xEF\xBB\xBFword O\n\nä B-X\n"},
  };
  const ScratchFolder folder;
  for (const auto& [name, text] : files)
    for (std::size_t size = 0; size <= std::string_view(text).size(); size += 3) {
      const std::string path = folder.File(name);
      std::ofstream(path, std::ios::binary) << std::string_view(text).substr(0, size);
      for (const char* task : {"", "texts", "pairs", "labels", "questions", "tags"}) {
        DataCheck options;
        options.files = {path};
        options.task = task;
        try {
          for (const Finding& finding : CheckData(options).findings)
            for (const std::string& example : finding.examples) EXPECT_EQ(example.find('\n'), std::string::npos);
        } catch (const Error& error) {
          EXPECT_EQ(error.cause(), ErrorCause::user) << error.what();
          EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
        }
      }
    }
}

}  // namespace
}  // namespace headlight::check_rows_test
