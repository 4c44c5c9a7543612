#include "headlight/train/metrics.h"

#include <gmock/gmock.h>

#include <limits>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"

namespace headlight::metrics_test {
namespace {

TEST(Metrics, LeavesOutNumbersThatAreNotFinite) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.File("out"));
  Metrics metrics(folder.File("out"), 0);
  ValidationReport report;
  report.step = 3;
  report.epoch = 1;
  report.loss = 800;
  report.perplexity = std::numeric_limits<double>::infinity();
  metrics.Add(report);
  EXPECT_EQ(ReadFile(folder.File("out/metrics.jsonl")),
            "{\"step\":3,\"epoch\":1,\"validation_loss\":800.0,\"best\":false}\n");
}

TEST(Metrics, AreNamedAfterTheUnitThatIsCounted) {
  const TemporaryFolder folder;
  StepReport report;
  report.labels = 7;
  for (const std::string labels : {"images", "target tokens"}) {
    const std::string out = folder.File(labels);
    std::filesystem::create_directories(out);
    Metrics(out, 0, labels).Add(report);
    EXPECT_THAT(ReadFile(out + "/metrics.jsonl"),
                testing::HasSubstr(labels == "images" ? "\"images\":7," : "\"target_tokens\":7,"));
    EXPECT_THAT(ReadFile(out + "/metrics.jsonl"),
                testing::HasSubstr(labels == "images" ? "\"images_per_second\":" : "\"target_tokens_per_second\":"));
  }
}

TEST(Metrics, OfALaterLineReplaceThoseOfTheSameAndLaterSteps) {
  const TemporaryFolder folder;
  WriteFile(folder.File("metrics.jsonl"),
            "{\"step\":1,\"loss\":5}\n{\"step\":2,\"loss\":4}\n{\"step\":3,\"loss\":3}\n{\"step\":2,\"loss\":2}\n");
  const MetricSeries series = ReadMetric(folder.path(), "loss");
  EXPECT_EQ(series.steps, (std::vector<double>{1, 2}));
  EXPECT_EQ(series.values, (std::vector<double>{5, 2}));
}

// Checks the case of a killed process, which can leave an incomplete last line.
TEST(Metrics, SkipAnIncompleteLastLine) {
  const TemporaryFolder folder;
  const std::string first = R"({"step":1,"loss":2.5})"
                            "\n",
                    second = R"({"step":2,"loss":1.5})"
                             "\n";
  const std::string path = folder.File("metrics.jsonl");
  for (std::size_t size = first.size(); size < first.size() + second.size(); ++size) {
    WriteFile(path, (first + second).substr(0, size));
    EXPECT_EQ(ReadMetric(folder.path(), "loss").values, std::vector<double>{2.5});
    Metrics(folder.path(), 5);
    EXPECT_EQ(ReadFile(path), first);
  }
  WriteFile(path, "{\"step\":\n" + first);
  EXPECT_THAT(ErrorOf([&] { Metrics(folder.path(), 5); }), testing::HasSubstr("metrics.jsonl"));
}

}  // namespace
}  // namespace headlight::metrics_test
