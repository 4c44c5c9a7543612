#include "headlight/inspect/drawing/attention_drawing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "headlight/base/error.h"
#include "headlight/base/export.h"
#include "headlight/base/file.h"
#include "headlight/inspect/attention_testing.h"
#include "headlight/inspect/color_ramp.h"
#include "headlight/inspect/drawing/attention_layout.h"
#include "headlight/inspect/drawing/drawing_testing.h"

// Fontconfig keeps its caches until the process ends, and Cairo 1.16 leaks several hundred bytes per PDF: leak
// sanitizers must ignore both.
extern "C" HEADLIGHT_API const char* __lsan_default_suppressions() { return "leak:libfontconfig\nleak:libcairo\n"; }

namespace headlight::attention_drawing_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

// Tests run in parallel, so each test writes separate files.
std::string OutputPath(const std::string& name) {
  const char* test = testing::UnitTest::GetInstance()->current_test_info()->name();
  return fs::path(testing::TempDir()) / fmt::format("headlight_{}_{}", test, name);
}

// A decoded drawing with a single map. Returns the colors of its cells.
struct Painted {
  AttentionLayout layout;
  Png png;
  double scale;

  explicit Painted(const AttentionRecord& record)
      : layout(LayOutAttention(record, record.maps[0])),
        png((DrawAttention(record, OutputPath("cells.png")), OutputPath("cells.png"))) {
    scale = png.width() / std::ceil(layout.width);
  }
  Color Middle(int head, int query, int key) const {
    const Rectangle cell = layout.Cell(head, query, key);
    return png.At(scale * (cell.x + cell.width / 2), scale * (cell.y + cell.height / 2));
  }
  // Returns the colors inside a cell, without its border.
  std::set<int> Colors(int head, int query, int key) const {
    const Rectangle cell = layout.Cell(head, query, key);
    std::set<int> colors;
    for (double y = scale * (cell.y + 2); y < scale * (cell.y + cell.height - 2); ++y) {
      for (double x = scale * (cell.x + 2); x < scale * (cell.x + cell.width - 2); ++x) {
        const Color color = png.At(x, y);
        colors.insert(color.red << 16 | color.green << 8 | color.blue);
      }
    }
    return colors;
  }
};

AttentionRecord OneMap(AttentionKind kind, std::vector<std::string> source, std::vector<std::string> target,
                       int heads) {
  return SelectAttention(SampleRecord(std::move(source), std::move(target), 1, heads), {.kind = kind, .layer = 0});
}

TEST(DrawAttention, EachCellHasTheColorOfItsWeight) {
  AttentionRecord record = OneMap(AttentionKind::cross, kGerman, kEnglish, 6);
  AttentionMap& map = record.maps[0];
  std::fill_n(map.weights.begin() + 4 * map.queries * map.keys + 2 * map.keys, map.keys, 0.0f);
  map.weights[(4 * map.queries + 2) * map.keys + 7] = 1;  // head 4, in the second row of heads
  const Painted painted(record);
  EXPECT_EQ(painted.Middle(4, 2, 7), RampColor(1, Theme::light));
  EXPECT_EQ(painted.Middle(4, 2, 6), RampColor(0, Theme::light));
  for (int head = 0; head < map.heads; ++head) {
    for (int query = 0; query < map.queries; ++query) {
      for (int key = 0; key < map.keys; ++key) {
        const double weight = std::round(map.at(head, query, key) * 255) / 255;
        ASSERT_EQ(painted.Middle(head, query, key), RampColor(weight, Theme::light)) << head << query << key;
      }
    }
  }
}

TEST(DrawAttention, TheLargestWeightHasTheLastColor) {
  AttentionRecord record = OneMap(AttentionKind::cross, {"a", "b", "c"}, {"d"}, 1);
  record.maps[0].weights = {0.25f, 0.125f, 0.0f};
  const Painted painted(record);
  EXPECT_EQ(painted.Middle(0, 0, 0), RampColor(1, Theme::light));
  EXPECT_EQ(painted.Middle(0, 0, 1), RampColor(std::round(0.5 * 255) / 255, Theme::light));
  EXPECT_EQ(painted.Middle(0, 0, 2), RampColor(0, Theme::light));
}

TEST(DrawAttention, OnlyMaskedCellsAreHatched) {
  AttentionRecord record = OneMap(AttentionKind::decoder_self, {"a"}, ManyTokens(12), 1);
  AttentionMap& map = record.maps[0];
  std::fill_n(map.weights.begin() + 5 * map.keys, 4, 0.0f);  // no weight, but not masked
  const Painted painted(record);
  for (int query = 0; query < 12; ++query) {
    for (int key = 0; key < 12; ++key) {
      const std::set<int> colors = painted.Colors(0, query, key);
      if (key > query) {
        EXPECT_TRUE(colors.contains(0xffffff) && colors.size() > 2) << query << ", " << key;
      } else {
        EXPECT_EQ(colors.size(), 1u) << query << ", " << key;
        EXPECT_FALSE(colors.contains(0xffffff)) << query << ", " << key;
      }
    }
  }
}

TEST(DrawAttention, ThirtyTokensAllHaveReadableLabels) {
  const AttentionRecord record = OneMap(AttentionKind::cross, ManyTokens(30), ManyTokens(30), 8);
  const AttentionLayout layout = LayOutAttention(record, record.maps[0]);
  EXPECT_EQ(layout.label_step, 1);
  EXPECT_GE(layout.label.size, 11);
  EXPECT_GE(layout.cell, 1.3 * layout.label.size);
  EXPECT_TRUE(layout.upwards);
  // The labels must give dark pixels to the left of each row and above each column.
  const Painted painted(record);
  const auto inked = [&](Rectangle area) {
    for (double y = painted.scale * area.y; y < painted.scale * (area.y + area.height); ++y) {
      for (double x = painted.scale * area.x; x < painted.scale * (area.x + area.width); ++x) {
        if (painted.png.At(x, y).green < 100) return true;
      }
    }
    return false;
  };
  for (int token = 0; token < 30; ++token) {
    const Rectangle row = layout.Cell(5, token, 0), column = layout.Cell(5, 0, token);
    EXPECT_TRUE(inked({row.x - 20, row.y, 19, row.height})) << token;
    EXPECT_TRUE(inked({column.x, column.y - 30, column.width, 29})) << token;
  }
}

TEST(DrawAttention, ShortKeysAreNotRotated) {
  EXPECT_FALSE(
      LayOutAttention(OneMap(AttentionKind::cross, {"你", "好"}, {"a"}, 1), SampleMap(AttentionKind::cross, 0, 1, 1, 2))
          .upwards);
}

TEST(DrawAttention, WritesTheFormatOfTheExtension) {
  const AttentionRecord record = SampleRecord(kScripts, kHostile, 2, 3);
  const std::pair<const char*, const char*> formats[] = {
      {"all.png", "\x89PNG"}, {"all.SVG", "<?xml"}, {"all.pdf", "%PDF"}};
  for (const auto& [name, magic] : formats) {
    DrawAttention(record, OutputPath(name));
    EXPECT_THAT(ReadFile(OutputPath(name)), StartsWith(magic));
  }
  // The six attentions are on separate pages of a PDF, or stacked vertically in one image.
  const std::string pdf = ReadFile(OutputPath("all.pdf"));
  EXPECT_THAT(pdf, HasSubstr("/Count 6"));
  double height = 0;
  for (const AttentionMap& map : record.maps) height += LayOutAttention(record, map).height;
  EXPECT_NEAR(Png(OutputPath("all.png")).height(), 2 * height, 2);
}

TEST(DrawAttention, VectorDrawingsAreSmall) {
  const AttentionRecord record = SampleRecord(ManyTokens(30), ManyTokens(30), 6, 8);
  DrawAttention(record, OutputPath("large.pdf"));
  EXPECT_LT(fs::file_size(OutputPath("large.pdf")), 1'500'000u);
}

TEST(DrawAttention, RefusesInvalidRequests) {
  const AttentionRecord record = SampleRecord({"a"}, {"b"}, 1, 1);
  const auto refusal = [](const AttentionRecord& what, const std::string& path) -> std::string {
    try {
      DrawAttention(what, path);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_THAT(refusal(record, OutputPath("a.gif")), HasSubstr("a.gif: the name"));
  EXPECT_THAT(refusal(record, OutputPath("png")), HasSubstr(".png, .svg or .pdf"));
  EXPECT_THAT(refusal(record, OutputPath("no/such/folder/a.png")), HasSubstr("a.png"));
  EXPECT_THAT(refusal(AttentionRecord{}, OutputPath("a.png")), HasSubstr("no map"));
  // The limit on height is lower for PNG than for PDF.
  const AttentionRecord tall = SampleRecord(ManyTokens(30), ManyTokens(30), 12, 8);
  WriteFile(OutputPath("old.png"), "old");
  EXPECT_THAT(refusal(tall, OutputPath("old.png")), HasSubstr("is too large"));
  EXPECT_EQ(fs::file_size(OutputPath("old.png")), 3u);
}

}  // namespace
}  // namespace headlight::attention_drawing_test
