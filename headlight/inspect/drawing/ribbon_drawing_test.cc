#include "headlight/inspect/drawing/ribbon_drawing.h"

#include <gmock/gmock.h>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/inspect/drawing/confidence_drawing.h"
#include "headlight/inspect/drawing/drawing_testing.h"
#include "headlight/inspect/structure_testing.h"

namespace headlight::ribbon_drawing_test {
namespace {

using testing::HasSubstr;

// Returns the number of pixels with approximately this color: each channel is within 40.
int CountLike(const Png& png, const Color& color) {
  int count = 0;
  for (int y = 130; y < png.height() - 120; ++y)
    for (int x = 0; x < png.width(); ++x) {
      const Color seen = png.At(x, y);
      if (std::abs(seen.red - color.red) < 40 && std::abs(seen.green - color.green) < 40 &&
          std::abs(seen.blue - color.blue) < 40)
        ++count;
    }
  return count;
}

TEST(DrawRibbon, ColorsAPredictionByItsConfidence) {
  const TemporaryFolder folder;
  StructureRecord record = SampleStructure();
  for (const float lddt : {95.0f, 30.0f}) {
    for (Residue& residue : record.chain.residues) residue.b_factors.fill(lddt);
    DrawRibbon(record, {}, folder.File("fold.png"));
    const Png png(folder.File("fold.png"));
    EXPECT_EQ(CountLike(png, ColorOfLddt(95)) > 1000, lddt > 90);
    EXPECT_EQ(CountLike(png, ColorOfLddt(30)) > 1000, lddt < 50);
  }
}

TEST(DrawRibbon, DrawsLinesToWhatAResidueLooksAt) {
  const TemporaryFolder folder;
  StructureRecord record = SampleStructure();
  record.predicted = false;
  const auto orange = [&](const std::optional<RibbonLook>& look) {
    DrawRibbon(record, look, folder.File("fold.png"));
    return CountLike(Png(folder.File("fold.png")), {201, 98, 47});
  };
  // The second head attends to the last residue. The first head attends to the residue itself, which is drawn as a dot.
  const int without = orange({}), itself = orange(RibbonLook{0, 1, 0}), last = orange(RibbonLook{0, 1, 1});
  EXPECT_GT(itself, without);
  EXPECT_GT(last, itself + 1000);
  for (const char* name : {"fold.svg", "fold.pdf"}) DrawRibbon(record, RibbonLook{}, folder.File(name));
  EXPECT_THAT(ReadFile(folder.File("fold.svg")), HasSubstr("<svg"));
}

TEST(DrawRibbon, RefusesIndicesOutOfRange) {
  const TemporaryFolder folder;
  const auto refusal = [&](const RibbonLook& look) {
    return ErrorOf([&] { DrawRibbon(SampleStructure(), look, folder.File("fold.png")); });
  };
  EXPECT_THAT(refusal({.residue = 16}), HasSubstr("residue 17 is"));
  EXPECT_THAT(refusal({.attention = 3}), HasSubstr("attention 4 is"));
  EXPECT_THAT(refusal({.head = 2}), HasSubstr("head 3 is"));
  EXPECT_THAT(ErrorOf([&] { DrawRibbon(SampleStructure(), {}, folder.File("fold.gif")); }), HasSubstr(".svg"));
}

}  // namespace
}  // namespace headlight::ribbon_drawing_test
