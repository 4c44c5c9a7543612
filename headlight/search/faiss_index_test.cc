// Compares searches in files that Faiss wrote with Faiss's results (tools/make_faiss_goldens.py).
#include "headlight/search/faiss_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"

namespace headlight::faiss_index_test {
namespace {

using testing::HasSubstr;

const std::string kFolder = HEADLIGHT_SOURCE_DIR "/headlight/search/testdata/faiss/";

std::vector<float> Numbers(const JsonView& array) {
  std::vector<float> numbers;
  for (const JsonView& number : array.Items()) numbers.push_back(static_cast<float>(number.Number()));
  return numbers;
}

TEST(FaissIndex, MatchesFaiss) {
  const JsonView golden = ReadJson(kFolder + "results.json");
  const std::vector<JsonView> queries = golden["queries"].Items();
  int compared = 0;
  for (const JsonView& result : golden["results"].Items()) {
    const std::string name = result["file"].String();
    const FaissIndex index = FaissIndex::Open(kFolder + name + ".faiss");
    const bool has_graph = name.starts_with("hnsw");
    EXPECT_EQ(index.has_graph(), has_graph);
    EXPECT_EQ(index.by_l2(), name == "l2" || name == "ivf_by_l2" || name == "hnsw_l2");
    EXPECT_EQ(index.size(), name == "sparse" ? 2 : has_graph ? 300 : 40);
    EXPECT_EQ(index.dimension(), 6);
    EXPECT_EQ(index.lists(), name == "sparse" ? 8 : name.starts_with("ivf") ? 5 : 1);
    const std::vector<JsonView> ids = result["ids"].Items(), products = result["products"].Items();
    for (std::size_t query = 0; query < queries.size(); ++query) {
      const auto hits =
          index.Search(Numbers(queries[query]), 5,
                       {.probes = result["probes"].Integer(), .ef_search = result["ef_search"].Integer()});
      const std::vector<float> expected = Numbers(products[query]);
      const std::vector<JsonView> rows = ids[query].Items();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].Integer() < 0) {  // Faiss's mark for the end of the results
          EXPECT_EQ(hits.size(), i) << name;
          break;
        }
        ASSERT_LT(i, hits.size()) << name;
        EXPECT_EQ(hits[i].id, rows[i].Integer()) << name << " query " << query;
        EXPECT_NEAR(hits[i].score, expected[i], 1e-5) << name;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 600);
}

TEST(FaissIndex, FindsTheNearestInAGraphWithManyCandidates) {
  const JsonView golden = ReadJson(kFolder + "results.json");
  std::vector<std::vector<float>> vectors;
  for (const JsonView& vector : golden["many"].Items()) vectors.push_back(Numbers(vector));
  for (const bool by_l2 : {false, true}) {
    const FaissIndex index = FaissIndex::Open(kFolder + (by_l2 ? "hnsw_l2" : "hnsw") + ".faiss");
    std::int64_t found = 0, found_by_few = 0, all = 0;
    for (const JsonView& query : golden["queries"].Items()) {
      const std::vector<float> wanted = Numbers(query);
      std::vector<std::pair<double, std::int64_t>> exact;
      for (std::size_t row = 0; row < vectors.size(); ++row) {
        double score = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i)
          score += by_l2 ? std::pow(vectors[row][i] - wanted[i], 2) : -vectors[row][i] * wanted[i];
        exact.emplace_back(score, by_l2 ? 1000 + 3 * static_cast<std::int64_t>(row) : static_cast<std::int64_t>(row));
      }
      std::ranges::sort(exact);
      const auto many = index.Search(wanted, 10, {.ef_search = 300}), few = index.Search(wanted, 10, {.ef_search = 1});
      ASSERT_EQ(many.size(), 10U);
      for (std::size_t i = 0; i < 10; ++i, ++all) {
        const auto has = [&](const std::vector<FaissIndex::Hit>& hits) {
          return std::ranges::count(hits, exact[i].second, &FaissIndex::Hit::id);
        };
        found += has(many);
        found_by_few += has(few);
      }
    }
    EXPECT_EQ(found, all);
    EXPECT_LT(found_by_few, all);
  }
}

TEST(FaissIndex, IsWrittenLikeFaiss) {
  const TemporaryFolder folder;
  const JsonView golden = ReadJson(kFolder + "results.json");
  IndexBuilder builder(folder.File("index"), {folder.path(), "0", 6});
  std::size_t row = 0;
  for (const JsonView& vector : golden["vectors"].Items())
    builder.Add({fmt::format("text {}", row++)}, Numbers(vector));
  builder.Flush();
  const VectorIndex index = VectorIndex::Open(folder.File("index"));
  const std::string path = folder.File("written.faiss");
  WriteFaiss(index, path);
  const std::string written = ReadFile(path), own = ReadFile(kFolder + "flat.faiss");
  ASSERT_EQ(written.size(), own.size());
  const std::size_t header = own.size() - 40 * 6 * sizeof(float);
  EXPECT_EQ(written.substr(0, header), own.substr(0, header));
  WriteFaiss(index, folder.File("l2.faiss"), /*by_l2=*/true);
  EXPECT_EQ(ReadFile(folder.File("l2.faiss")).substr(0, header), ReadFile(kFolder + "l2.faiss").substr(0, header));
  const FaissIndex read = FaissIndex::Open(path);
  const std::vector<float> query = Numbers(golden["queries"].Items()[0]);
  const auto expected = index.Search(query, 7);
  const auto hits = read.Search(query, 7);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(hits[i].id, expected[i].row);
    EXPECT_NEAR(hits[i].score, expected[i].score, 1e-6);
  }
}

TEST(FaissIndex, RefusesOtherKinds) {
  const auto refusal = [](const std::string& name) { return ErrorOf([&] { FaissIndex::Open(kFolder + name); }); };
  EXPECT_THAT(refusal("pq.faiss"), HasSubstr("byte 4: an index of kind \"IxPq\""));
  EXPECT_THAT(refusal("results.json"), HasSubstr("an index of kind"));
  EXPECT_THAT(refusal("none.faiss"), HasSubstr("none.faiss"));
  const FaissIndex index = FaissIndex::Open(kFolder + "flat.faiss");
  EXPECT_THAT(ErrorOf([&] { index.Search(std::vector<float>(5), 1); }), HasSubstr("5 numbers"));
  EXPECT_THAT(ErrorOf([&] { index.Search(std::vector<float>(6), 0); }), HasSubstr("top must be at least 1"));
}

TEST(FaissIndex, RefusesNumbersThatAreNotFinite) {
  const TemporaryFolder folder;
  const std::string path = folder.File("nan.faiss");
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::string bytes = ReadFile(kFolder + "flat.faiss");
    std::memcpy(bytes.data() + bytes.size() - sizeof(float), &bad, sizeof(float));
    WriteFile(path, bytes);
    const FaissIndex index = FaissIndex::Open(path);
    EXPECT_THAT(ErrorOf([&] { index.Search(std::vector<float>(6, 1), 3); }), HasSubstr("nan.faiss: vector 39: "));
  }
}

// Checks that damaged files cause no crash, hang or out-of-range read. Tries every third truncation and flipped bit of
// the smallest file, and fewer of the other files.
TEST(FaissIndex, SurvivesDamagedFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.File("damaged.faiss");
  int read = 0, refused = 0;
  const auto open = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      const FaissIndex index = FaissIndex::Open(path);
      index.Search(std::vector<float>(static_cast<std::size_t>(index.dimension()), 1), 100);
      index.Search(std::vector<float>(static_cast<std::size_t>(index.dimension()), 1), 3,
                   {.probes = 2, .ef_search = 2});
      ++read;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("damaged.faiss"));
      ++refused;
    }
  };
  for (const char* name : {"flat", "idmap", "ivf", "ivf_l2", "sparse", "l2", "ivf_by_l2", "hnsw", "hnsw_l2"}) {
    const std::string whole = ReadFile(kFolder + name + ".faiss");
    read = 0;
    const std::size_t step = whole.size() < 500 ? 3 : whole.size() < 5000 ? 31 : 499;
    for (std::size_t size = 0; size < whole.size(); size += step) open(whole.substr(0, size));
    EXPECT_EQ(read, 0) << name;
    open(whole + " ");
    EXPECT_EQ(read, 0) << name;
    for (std::size_t bit = 0; bit < 8 * whole.size(); bit += step) {
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      open(flipped);
    }
    EXPECT_GT(read, 0) << name;  // flipped bits in a vector's elements are not detected
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace headlight::faiss_index_test
