#include "headlight/data/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

#include "headlight/base/file.h"
#include "headlight/base/random.h"
#include "headlight/data/testing.h"

// The current and the largest size of the heap, to measure the memory of a large corpus.
namespace {
std::atomic<std::int64_t> heap_bytes, heap_peak;
}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(size);
  if (memory == nullptr) return nullptr;
  const std::int64_t now = heap_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  for (std::int64_t peak = heap_peak; peak < now && !heap_peak.compare_exchange_weak(peak, now);) continue;
  return memory;
}
void* operator new(std::size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  heap_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace headlight::corpus_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CorpusTest : public testing::Test {
 protected:
  Corpus Open(std::string_view source, std::string_view target) {
    return OpenFiles({folder_.Write("source", source), folder_.Write("target", target), folder_.Path("cache")});
  }
  Corpus OpenFiles(const CorpusFiles& files) {
    const EncodeText encode = [&](std::string_view text, Side) {
      ++encoded_;
      return Numbers(text);
    };
    return Corpus(files, encode, tokenizer_hash_, options_);
  }
  std::string Failure(std::string_view source, std::string_view target) {
    return ErrorOf([&] { Open(source, target); });
  }
  // Opens the corpus and returns the number of sentences that were encoded.
  int Encoded(std::string_view source, std::string_view target) {
    encoded_ = 0;
    Open(source, target);
    return encoded_;
  }

  TestFolder folder_;
  CorpusOptions options_;
  std::uint64_t tokenizer_hash_ = 1;
  std::atomic<int> encoded_ = 0;
};

TEST_F(CorpusTest, ContainsTheIdsOfEveryPair) {
  const Corpus corpus = Open("1 2 3\n4\n", "5 6\r\n7 8 9 70000");
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_THAT(corpus.IdsOf(0).source, ElementsAre(1, 2, 3));
  EXPECT_THAT(corpus.IdsOf(0).target, ElementsAre(5, 6));
  EXPECT_THAT(corpus.IdsOf(1).source, ElementsAre(4));
  EXPECT_THAT(corpus.IdsOf(1).target, ElementsAre(7, 8, 9, 70000));
  EXPECT_EQ(corpus.counts(), (CorpusCounts{.lines = 2, .kept = 2, .source_tokens = 4, .target_tokens = 6}));
  EXPECT_THROW(corpus.TextOf(0), Error);
}

// Checks that a file of pairs gives the same corpus as two files of lines.
TEST_F(CorpusTest, IsReadFromPairs) {
  options_.keep_text = true;
  const Corpus lines = Open("1 2 3\n\n4\n", "5 6\n8\n7 8\n");
  const std::string pairs = folder_.Write("pairs.jsonl", R"({"translation": {"x": "1 2\n3", "y": "5 6"}})"
                                                         "\n"
                                                         R"({"translation": {"x": "", "y": "8"}})"
                                                         "\n"
                                                         R"({"translation": {"x": "4", "y": "7 8"}})");
  const Corpus read = OpenFiles({pairs, "", folder_.Path("pairs"), {"x", "y"}});
  EXPECT_EQ(read.hash(), lines.hash());
  EXPECT_EQ(read.counts(), lines.counts());
  EXPECT_EQ(read.counts().empty, 1);
  EXPECT_THAT(read.IdsOf(0).source, ElementsAre(1, 2, 3));
  EXPECT_EQ(read.TextOf(1).target, "7 8");
  EXPECT_THAT(ErrorOf([&] {
                OpenFiles({folder_.Write("none.jsonl", ""), "", folder_.Path("none"), {}});
              }),
              HasSubstr("none.jsonl is empty"));
}

TEST_F(CorpusTest, PassesTheSideToTheTokenizer) {
  const CorpusFiles files{folder_.Write("source", "s\n"), folder_.Write("target", "t\n"), folder_.Path("cache")};
  const EncodeText encode = [](std::string_view text, Side side) {
    return std::vector<std::int32_t>{text[0], static_cast<std::int32_t>(side)};
  };
  const Corpus corpus(files, encode, 1, options_);
  EXPECT_THAT(corpus.IdsOf(0).source, ElementsAre('s', 0));
  EXPECT_THAT(corpus.IdsOf(0).target, ElementsAre('t', 1));
}

TEST_F(CorpusTest, KeepsTheTextOnRequest) {
  options_.keep_text = true;
  const Corpus corpus = Open("1 zwei\n3\n", "  5 \n6 sieben\t8\n");
  EXPECT_EQ(corpus.TextOf(0).source, "1 zwei");
  EXPECT_EQ(corpus.TextOf(0).target, "  5 ");
  EXPECT_EQ(corpus.TextOf(1).source, "3");
  EXPECT_EQ(corpus.TextOf(1).target, "6 sieben\t8");
  EXPECT_THAT(corpus.IdsOf(1).target, ElementsAre(6, 8));
}

TEST_F(CorpusTest, CountsOmittedPairsByReason) {
  options_.max_tokens = 5;
  options_.max_ratio = 2;
  const Corpus corpus = Open(
      "1\n"          // kept
      "\n"           // empty
      "1\n"          // empty
      "1 2 3 4\n"    // kept: 5 tokens with the end token
      "1 2 3 4 5\n"  // over-long
      "1\n"          // kept: ratio of 4 to 2
      "1 2 3 4\n"    // lopsided: ratio of 5 to 2
      "\n",          // empty
      "1\n1\nnothing\n1 2 3 4\n1 2 3 4\n1 2 3\n1\n1 2 3 4 5 6 7\n");
  EXPECT_EQ(
      corpus.counts(),
      (CorpusCounts{
          .lines = 8, .kept = 3, .empty = 3, .over_long = 1, .lopsided = 1, .source_tokens = 6, .target_tokens = 8}));
  EXPECT_THAT(corpus.IdsOf(2).target, ElementsAre(1, 2, 3));
}

TEST_F(CorpusTest, EncodesOnce) {
  const std::string source = "1 2\n3\n", target = "4\n5\n";
  EXPECT_EQ(Encoded(source, target), 4);
  EXPECT_EQ(Encoded(source, target), 0);
  EXPECT_EQ(Encoded("1 2\r\n3", "4\r\n5"), 0);  // the text did not change
  EXPECT_EQ(Open(source, target).counts(), (CorpusCounts{2, 2, 0, 0, 0, 3, 2}));
}

TEST_F(CorpusTest, EncodesAgainAfterAnyChange) {
  EXPECT_EQ(Encoded("1 2\n3\n", "4\n5\n"), 4);
  EXPECT_EQ(Encoded("1 2\n6\n", "4\n5\n"), 4);
  EXPECT_EQ(Encoded("1 2\n6\n", "4\n7\n"), 4);
  EXPECT_EQ(Encoded("4\n7\n", "1 2\n6\n"), 4);
  EXPECT_EQ(Encoded("4 7\n", "1 2 6\n"), 2);
  const std::uint64_t before = Open("4 7\n", "1 2 6\n").hash();
  tokenizer_hash_ = 2;
  EXPECT_EQ(Encoded("4 7\n", "1 2 6\n"), 2);
  options_.max_tokens = 7;
  EXPECT_EQ(Encoded("4 7\n", "1 2 6\n"), 2);
  options_.max_ratio = 2;
  EXPECT_EQ(Encoded("4 7\n", "1 2 6\n"), 2);
  options_.keep_text = true;
  EXPECT_EQ(Encoded("4 7\n", "1 2 6\n"), 2);
  EXPECT_EQ(Encoded("4 7\n", "1 2 6\n"), 0);
  EXPECT_NE(Open("4 7\n", "1 2 6\n").hash(), before);
}

TEST_F(CorpusTest, ReplacesADamagedCache) {
  options_.keep_text = true;
  const std::string source = "1 2\n3\n", target = "4\n5\n";
  Open(source, target);
  const std::string whole = ReadFile(folder_.Path("cache"));
  const std::size_t magic = 8;
  for (std::size_t size = magic; size < whole.size(); size += 11) {
    folder_.Write("cache", whole.substr(0, size));
    ASSERT_EQ(Encoded(source, target), 4) << size;
  }
  for (std::size_t bit = 8 * magic; bit < 8 * whole.size(); bit += 37) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    folder_.Write("cache", damaged);
    ASSERT_EQ(Encoded(source, target), 4) << bit;
    ASSERT_EQ(ReadFile(folder_.Path("cache")), whole) << bit;
  }
}

TEST_F(CorpusTest, DoesNotOverwriteOtherFiles) {
  folder_.Write("cache", "my only copy");
  EXPECT_THAT(Failure("1\n", "1\n"), HasSubstr("cache: is a file of another"));
  EXPECT_EQ(ReadFile(folder_.Path("cache")), "my only copy");
}

TEST_F(CorpusTest, RefusesInvalidFiles) {
  EXPECT_THAT(Failure("1\n2\n3", "1\n2\n"), testing::AllOf(HasSubstr("source has 3 lines"), HasSubstr("target has 2")));
  EXPECT_THAT(Failure("", ""), HasSubstr("are empty"));
  EXPECT_THAT(Failure("\n1 2 3 4 5 6 7 8 9\n", "1\n\n"), HasSubstr("2 empty, 0 over-long"));
  EXPECT_THAT(Failure("1\n2\n", "1\n\xFF\n"), HasSubstr("target: line 2: byte 0"));
  EXPECT_THAT(ErrorOf([&] {
                OpenFiles({folder_.Path("source"), folder_.Path("none"), folder_.Path("cache")});
              }),
              HasSubstr("none: cannot open"));
  EXPECT_THAT(ErrorOf([&] {
                OpenFiles({folder_.Path("source"), "/dev/null", folder_.Path("cache")});
              }),
              HasSubstr("/dev/null: not a regular file"));
  EXPECT_THAT(ErrorOf([&] {
                OpenFiles({folder_.Write("source", "1"), folder_.Write("target", "1"), folder_.Path("no/cache")});
              }),
              HasSubstr("no/cache: cannot create"));
  EXPECT_FALSE(std::filesystem::exists(folder_.Path("cache")));
}

TEST_F(CorpusTest, RefusesImpossibleOptions) {
  for (const int length : {1, 0, -3}) {
    options_.max_tokens = length;
    EXPECT_THAT(Failure("1\n", "1\n"), HasSubstr("maximum length must be"));
  }
  options_ = {};
  for (const double ratio : {0.5, -1.0, std::nan(""), HUGE_VAL}) {
    options_.max_ratio = ratio;
    EXPECT_THAT(Failure("1\n", "1\n"), HasSubstr("maximum ratio of lengths"));
  }
}

TEST_F(CorpusTest, PassesOnTheTokenizersErrors) {
  const CorpusFiles files{folder_.Write("source", "1\n2\n"), folder_.Write("target", "1\n2\n"), folder_.Path("cache")};
  const EncodeText failing = [](std::string_view, Side) -> std::vector<std::int32_t> {
    Fail("the tokenizer's own error");
  };
  EXPECT_EQ(ErrorOf([&] { Corpus(files, failing, 1, options_); }), "the tokenizer's own error");
  EXPECT_FALSE(std::filesystem::exists(files.cache));
}

// As objects, 100,000 pairs would take far more than 20 MB. The memory is limited to 16 bytes per pair,
// doubled while a vector grows, plus the memory for one chunk.
TEST_F(CorpusTest, NeedsLittleMemoryForALargeCorpus) {
  options_.keep_text = true;
  constexpr std::int64_t kPairs = 100000;
  Random random(5);
  for (const char* name : {"source", "target"}) {
    std::string text;
    for (std::int64_t pair = 0; pair < kPairs; ++pair) {
      for (std::uint64_t words = random.Below(12) + 1; words > 0; --words)
        text += std::to_string(random.Below(999)) + " ";
      text += "\n";
    }
    folder_.Write(name, text);
  }
  const std::int64_t before = heap_bytes;
  heap_peak = before;
  const Corpus corpus = OpenFiles({folder_.Path("source"), folder_.Path("target"), folder_.Path("cache")});
  EXPECT_LT(heap_peak - before, 3 * 16 * kPairs + (std::int64_t{4} << 20));
  EXPECT_LT(heap_bytes - before, 1 << 16);
  EXPECT_EQ(corpus.counts().lines, kPairs);
  EXPECT_THAT(corpus.IdsOf(corpus.size() - 1).source, testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace headlight::corpus_test
