#include "headlight/search/vector_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/search/index_files.h"

namespace headlight::vector_index_test {
namespace {

using testing::HasSubstr;

std::vector<float> VectorOf(int seed, std::int64_t dimension) {
  Random random(static_cast<std::uint64_t>(seed));
  std::vector<float> vector;
  for (std::int64_t i = 0; i < dimension; ++i) vector.push_back(static_cast<float>(random.Normal()));
  return vector;
}

double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  const double both = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  return both / std::sqrt(std::inner_product(a.begin(), a.end(), a.begin(), 0.0) *
                          std::inner_product(b.begin(), b.end(), b.begin(), 0.0));
}

struct VectorIndexTest : testing::Test {
  IndexModel Model(const std::string& fingerprint = "one", std::int64_t dimension = 7) const {
    return {"model", fingerprint, dimension};
  }
  TemporaryFolder temporary;
  const std::string folder = temporary.File("index");
};

TEST_F(VectorIndexTest, MatchesAnExhaustiveSearch) {
  constexpr int count = 500;
  {
    IndexBuilder builder(folder, Model());
    for (int i = 0; i < count; ++i) builder.Add({fmt::format("text {}\n\"", i)}, VectorOf(i, 7));
    builder.Flush();
    EXPECT_EQ(builder.size(), count);
  }
  const VectorIndex index = VectorIndex::Open(folder);
  EXPECT_EQ(index.size(), count);
  EXPECT_EQ(index.model().fingerprint, "one");
  for (const int query : {1000, 1001}) {
    const std::vector<float> vector = VectorOf(query, 7);
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, std::greater(), [&](int i) { return Cosine(VectorOf(i, 7), vector); });
    std::int64_t told = 0;
    const auto hits = index.Search(vector, 20, [&](std::int64_t done, std::int64_t) { told = done; });
    EXPECT_EQ(told, count);
    ASSERT_EQ(hits.size(), 20U);
    for (std::size_t i = 0; i < hits.size(); ++i) {
      EXPECT_EQ(hits[i].row, order[i]);
      EXPECT_NEAR(hits[i].score, Cosine(VectorOf(order[i], 7), vector), 1e-6);
      EXPECT_EQ(index.Item(hits[i].row).name, fmt::format("text {}\n\"", order[i]));
    }
  }
  EXPECT_EQ(index.Search(VectorOf(1, 7), 100'000).size(), static_cast<std::size_t>(count));
  EXPECT_THAT(ErrorOf([&] { index.Search(VectorOf(1, 8), 3); }), HasSubstr("8 numbers"));
  EXPECT_THAT(ErrorOf([&] { index.Search(std::vector<float>(7), 3); }), HasSubstr("a length of zero"));
}

TEST_F(VectorIndexTest, TiesGoToTheFirstItem) {
  IndexBuilder builder(folder, Model());
  for (int i = 0; i < 6; ++i) builder.Add({fmt::format("{}", i)}, VectorOf(i == 2 ? 9 : 1, 7));
  builder.Flush();
  std::vector<std::int64_t> rows;
  for (const VectorIndex::Hit& hit : VectorIndex::Open(folder).Search(VectorOf(1, 7), 3)) rows.push_back(hit.row);
  EXPECT_THAT(rows, testing::ElementsAre(0, 1, 3));
}

TEST_F(VectorIndexTest, CanBeContinuedAndDetectsChanges) {
  const IndexItem old{"/a.jpg", true, 10, 100}, changed{"/a.jpg", true, 10, 101}, text{"/a.jpg"};
  {
    IndexBuilder builder(folder, Model());
    builder.Add(old, VectorOf(1, 7));
    builder.Flush();
    builder.Add({"lost"}, VectorOf(2, 7));  // not flushed
  }
  {
    IndexBuilder builder(folder, Model());
    EXPECT_EQ(builder.size(), 1);
    EXPECT_TRUE(builder.Has(old));
    EXPECT_FALSE(builder.Has(changed));
    EXPECT_FALSE(builder.Has(text));
    EXPECT_FALSE(builder.Has({"lost"}));
    builder.Add(changed, VectorOf(3, 7));
    builder.Add(text, VectorOf(4, 7));
    EXPECT_TRUE(builder.Has(changed));
    builder.Flush();
  }
  const VectorIndex index = VectorIndex::Open(folder);
  ASSERT_EQ(index.size(), 2);
  EXPECT_EQ(index.Item(0), changed);
  EXPECT_EQ(index.Item(1), text);
  EXPECT_EQ(index.Search(VectorOf(3, 7), 1)[0].row, 0);
}

// Checks an index of more than one file, with changes in a full file.
TEST_F(VectorIndexTest, ChangesFullFiles) {
  constexpr int count = 32768 + 5;
  std::optional<IndexBuilder> builder(std::in_place, folder, Model("one", 2));
  for (int i = 0; i < count; ++i) builder->Add({fmt::format("{}", i)}, VectorOf(i, 2));
  builder->Flush();
  builder.emplace(folder, Model("one", 2));
  EXPECT_EQ(builder->size(), count);
  EXPECT_TRUE(builder->Has({"32767"}));
  EXPECT_TRUE(builder->Has({"32768"}));
  builder->Add({"17"}, VectorOf(-1, 2));
  builder->Add({"new"}, VectorOf(-2, 2));
  builder->Flush();
  const VectorIndex index = VectorIndex::Open(folder);
  EXPECT_EQ(index.size(), count + 1);
  EXPECT_EQ(index.Item(count).name, "new");
  const std::vector<float> vector = index.Vector(17).ToVector<float>();
  EXPECT_NEAR(Cosine(vector, VectorOf(-1, 2)), 1, 1e-6);
  EXPECT_NEAR(Cosine(index.Vector(18).ToVector<float>(), VectorOf(18, 2)), 1, 1e-6);
}

TEST_F(VectorIndexTest, RemovesItems) {
  constexpr int count = 32768 + 3;  // needs two files
  IndexBuilder builder(folder, Model("one", 2));
  for (int i = 0; i < count; ++i) builder.Add({fmt::format("text {}", i)}, VectorOf(i, 2));
  const auto number = [](const IndexItem& item) { return std::stoi(item.name.substr(5)); };
  EXPECT_EQ(builder.RemoveIf([&](const IndexItem& item) { return number(item) % 2 == 1; }), count / 2);
  EXPECT_EQ(builder.size(), count - count / 2);
  EXPECT_FALSE(builder.Has({"text 1"}));
  EXPECT_TRUE(builder.Has({"text 32770"}));
  EXPECT_EQ(builder.RemoveIf([](const IndexItem&) { return false; }), 0);

  // An empty file is kept, and items added later are found.
  EXPECT_EQ(builder.RemoveIf([&](const IndexItem& item) { return number(item) < 32768; }), 16384);
  builder.Add({"text 1"}, VectorOf(1, 2));
  builder.Flush();
  EXPECT_EQ(builder.size(), 3);
  const VectorIndex index = VectorIndex::Open(folder);
  ASSERT_EQ(index.size(), 3);
  EXPECT_EQ(index.Item(0).name, "text 32768");
  EXPECT_EQ(index.Item(index.Search(VectorOf(1, 2), 1)[0].row).name, "text 1");
  EXPECT_EQ(builder.RemoveIf([](const IndexItem&) { return true; }), 3);
  EXPECT_EQ(VectorIndex::Open(folder).size(), 0);
  EXPECT_TRUE(VectorIndex::Open(folder).Search(VectorOf(1, 2), 1).empty());
  builder.Add({"again"}, VectorOf(1, 2));
  builder.Flush();
  EXPECT_EQ(VectorIndex::Open(folder).Item(0).name, "again");
}

TEST_F(VectorIndexTest, RefusesNumbersThatAreNotFinite) {
  {
    IndexBuilder builder(folder, Model());
    for (int item = 0; item < 3; ++item)
      builder.Add({std::string(1, static_cast<char>('a' + item))}, VectorOf(item, 7));
    builder.Flush();
  }
  const std::string path = folder + "/part-00000.safetensors";
  IndexRows rows;
  rows.Append(IndexPart(path, 7));
  rows.vectors[1 * 7 + 3] = std::numeric_limits<float>::quiet_NaN();
  rows.Write(path, 7);
  EXPECT_THAT(ErrorOf([&] { VectorIndex::Open(folder).Search(VectorOf(1, 7), 1); }),
              HasSubstr("part-00000.safetensors: row 1:"));
}

TEST_F(VectorIndexTest, ErrorsNameTheProblem) {
  EXPECT_THAT(ErrorOf([&] { VectorIndex::Open(temporary.path()); }), HasSubstr("is not a vector index"));
  WriteFile(temporary.File("something"), "else");
  EXPECT_THAT(ErrorOf([&] { IndexBuilder(temporary.path(), Model()); }), HasSubstr("is not empty"));
  {
    IndexBuilder builder(folder, Model());
    EXPECT_THAT(ErrorOf([&] { builder.Add({"a"}, std::vector<float>(7)); }), HasSubstr("a length of zero"));
    EXPECT_THAT(ErrorOf([&] { builder.Add({"a"}, VectorOf(1, 6)); }), HasSubstr("6 numbers"));
    EXPECT_THAT(ErrorOf([&] { builder.Add({"a\xff"}, VectorOf(1, 7)); }), HasSubstr("UTF-8"));
    builder.Add({"a"}, VectorOf(1, 7));
    builder.Flush();
  }
  EXPECT_THAT(ErrorOf([&] { IndexBuilder(folder, Model("two")); }), HasSubstr("another model"));
  const std::string part = folder + "/part-00000.safetensors";
  const std::string before = ReadFile(part);
  // A changed byte may cause an Error, and a truncation must cause an Error. Neither may cause a crash.
  for (std::size_t position = 0; position < before.size(); ++position) {
    std::string bad = before;
    bad[position] = static_cast<char>(bad[position] ^ 0x15);
    WriteFile(part, bad);
    ErrorOf([&] {
      const VectorIndex index = VectorIndex::Open(folder);
      for (const VectorIndex::Hit& hit : index.Search(VectorOf(1, 7), 3)) index.Item(hit.row);
    });
    WriteFile(part, before.substr(0, position));
    EXPECT_NE(ErrorOf([&] { VectorIndex::Open(folder); }), "") << position;
  }
  WriteFile(part, before);
  std::filesystem::rename(part, folder + "/part-00001.safetensors");
  EXPECT_THAT(ErrorOf([&] { VectorIndex::Open(folder); }), HasSubstr("part-00000.safetensors: is missing"));
}

}  // namespace
}  // namespace headlight::vector_index_test
