#include "headlight/inspect/drawing/superposed_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/inspect/drawing/drawing_testing.h"

namespace headlight::superposed_drawing_test {
namespace {

using testing::HasSubstr;

// Returns a zigzag along z. The residues from `moved` on are shifted by `by` angstrom.
std::vector<Vector3> Strand(std::size_t residues, std::size_t moved, double by) {
  std::vector<Vector3> points;
  for (std::size_t i = 0; i < residues; ++i)
    points.push_back({i % 2 == 0 ? 0.9 : -0.9, i < moved ? 0 : by, 3.3 * static_cast<double>(i)});
  return points;
}

TEST(DrawSuperposed, AResidueHasTheColorOfItsDistance) {
  const TemporaryFolder folder;
  const std::vector<Vector3> model = Strand(20, 10, 4), reference = Strand(20, 20, 0);
  const SuperposedStructures both = {"model on reference", "RMSD 2 A", model, reference};
  DrawSuperposed(both, folder.File("a.png"));
  const StructureView view = ViewOf(both);
  EXPECT_GT(std::abs(view.right.z), 0.99);  // the long axis is horizontal
  const Png png(folder.File("a.png"));
  const double pixels = png.width() / view.width;
  // Returns the color of the first half of the line from a residue to the next one. The line is paler at greater
  // depth.
  const auto at = [&](std::size_t residue) {
    const Point point = view.At(model[residue] + 0.2 * (model[residue + 1] - model[residue]));
    return png.At(point.x * pixels, point.y * pixels);
  };
  EXPECT_GT(at(3).blue, at(3).red);    // at the position of the reference
  EXPECT_GT(at(15).red, at(15).blue);  // 4 A away
  DrawSuperposed(both, folder.File("a.svg"));
  EXPECT_THAT(ReadFile(folder.File("a.svg")), HasSubstr("<svg"));
}

TEST(DrawSuperposed, RefusesInvalidStructures) {
  const TemporaryFolder folder;
  const std::vector<Vector3> model = Strand(3, 3, 0), longer = Strand(4, 4, 0);
  EXPECT_THAT(ErrorOf([&] {
                DrawSuperposed({"", "", model, longer}, folder.File("a.png"));
              }),
              HasSubstr("3 and 4 residues"));
  std::vector<Vector3> broken = model;
  broken[1].y = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(ErrorOf([&] { DrawSuperposed({"", "", broken, model}, folder.File("a.png")); }), HasSubstr("not finite"));
  EXPECT_THAT(ErrorOf([&] { DrawSuperposed({"", "", model, model}, folder.File("a.jpg")); }), HasSubstr(".svg"));
}

}  // namespace
}  // namespace headlight::superposed_drawing_test
