#include "headlight/inspect/drawing/confusion_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/inspect/drawing/drawing_testing.h"

namespace headlight::confusion_drawing_test {
namespace {

using testing::HasSubstr;

TEST(DrawConfusions, ASquareHasTheColorOfItsShareOfTheRow) {
  const TemporaryFolder folder;
  const ConfusionMatrix matrix{"test", {"cat", "dog", "Straße"}, {9, 1, 0, 0, 4, 0, 0, 0, 0}};
  DrawConfusions(matrix, folder.File("image.png"));
  const Png png(folder.File("image.png"));
  const ConfusionLayout layout = LayOutConfusions(matrix);
  EXPECT_TRUE(layout.names && layout.numbers);
  const double scale = png.width() / layout.width;
  const auto corner = [&](std::size_t right, std::size_t found) {  // next to the number
    const Rectangle cell = layout.Cell(right, found);
    return png.At((cell.x + 4) * scale, (cell.y + 4) * scale);
  };
  EXPECT_EQ(corner(0, 0), RampColor(0.9, Theme::light));
  EXPECT_EQ(corner(0, 1), RampColor(0.1, Theme::light));
  EXPECT_EQ(corner(1, 1), RampColor(1, Theme::light));
  EXPECT_EQ(corner(2, 2), RampColor(0, Theme::light));  // a class that is never predicted correctly
  DrawConfusions(matrix, folder.File("image.svg"));
  EXPECT_THAT(ReadFile(folder.File("image.svg")), HasSubstr("<svg"));
}

TEST(DrawConfusions, OmitsUnreadableText) {
  const auto of = [](std::size_t classes) {
    return ConfusionMatrix{"", std::vector<std::string>(classes, "class"),
                           std::vector<std::int64_t>(classes * classes)};
  };
  EXPECT_TRUE(LayOutConfusions(of(40)).numbers);
  EXPECT_FALSE(LayOutConfusions(of(41)).numbers);
  EXPECT_TRUE(LayOutConfusions(of(150)).names);
  EXPECT_FALSE(LayOutConfusions(of(151)).names);
  const TemporaryFolder folder;
  DrawConfusions(of(200), folder.File("image.png"));
}

TEST(DrawConfusions, RefusesInvalidCounts) {
  const TemporaryFolder folder;
  EXPECT_THAT(ErrorOf([&] {
                DrawConfusions({"", {"a", "b"}, {1, 2, 3}}, folder.File("a.png"));
              }),
              HasSubstr("2 classes has 3 counts"));
  EXPECT_THAT(ErrorOf([&] { DrawConfusions({"", {"a"}, {1}}, folder.File("a.jpg")); }), HasSubstr(".svg"));
}

}  // namespace
}  // namespace headlight::confusion_drawing_test
