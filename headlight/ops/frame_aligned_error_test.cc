#include "headlight/ops/frame_aligned_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::frame_aligned_error_test {
namespace {

using Marks = std::vector<std::uint8_t>;

TEST(FrameAlignedError, IsTheDistanceInLocalCoordinates) {
  // In a frame rotated by 90 degrees about z, with origin (1, 0, 0), the point (1, 2, 0) has the coordinates (2, 0, 0).
  // In the true frame, the point is (2, 3, 4).
  const Tensor frame = Tensor::From<double>({0, -1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0}, {1, 12});
  const Tensor identity = Tensor::From<double>({1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, {1, 12});
  const Tensor point = Tensor::From<double>({1, 2, 0}, {1, 3}), truth = Tensor::From<double>({2, 3, 4}, {1, 3});
  const auto loss = [&](const FrameAlignedErrorOptions& options) {
    return FrameAlignedError({frame, point}, {identity, truth}, Marks{1}, Marks{1}, options, 2).data<double>()[0];
  };
  EXPECT_NEAR(loss({.clamp = 10, .unit = 10, .epsilon = 0}), 2 * 0.5, 1e-12);
  EXPECT_NEAR(loss({.clamp = 4, .unit = 10, .epsilon = 0}), 2 * 0.4, 1e-12);
  EXPECT_NEAR(loss({.clamp = 4, .clamped_share = 0.25, .unit = 10, .epsilon = 0}), 2 * (0.1 + 0.375), 1e-12);
}

// Tests several frames and points per row. Some are unknown, and some errors exceed the clamp.
TEST(FrameAlignedError, Gradients) {
  const FramesAndPoints truth = {RandomTensor({2, 24}, 1), RandomTensor({3, 6}, 2)};
  const Marks frames = {1, 1, 0, 1}, points = {1, 0, 1, 1, 1, 1};
  for (const double share : {1.0, 0.3, 0.0}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return FrameAlignedError({in[0], in[1]}, truth, frames, points,
                               {.clamp = 1.5, .clamped_share = share, .unit = 3, .epsilon = 1e-4}, 2);
    };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({2, 24}, 3), RandomTensor({3, 6}, 4)}));
  }
}

// Checks the gradients of more frames than a block holds.
TEST(FrameAlignedError, SumsOverBlocks) {
  const FramesAndPoints truth = {RandomTensor({150, 12}, 1), RandomTensor({1, 3}, 2)};
  const auto f = [&](const std::vector<Tensor>& in) {
    return FrameAlignedError({in[0], in[1]}, truth, Marks(150, 1), Marks{1}, {}, 1);
  };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({150, 12}, 3), RandomTensor({1, 3}, 4)}));
}

TEST(FrameAlignedError, IsZeroWithoutPoints) {
  const FramesAndPoints some = {RandomTensor({2, 12}, 1), RandomTensor({2, 3}, 2)};
  EXPECT_EQ(FrameAlignedError(some, some, Marks(2, 0), Marks(2, 1), {}, 1).data<double>()[0], 0);
  EXPECT_EQ(FrameAlignedError(some, some, Marks(2, 1), Marks(2, 0), {}, 1).data<double>()[0], 0);
}

TEST(FrameAlignedError, RejectsOtherShapes) {
  const FramesAndPoints good = {RandomTensor({2, 12}, 1), RandomTensor({2, 3}, 2)};
  EXPECT_THROW(FrameAlignedError(good, good, Marks(3, 1), Marks(2, 1), {}, 1), Error);
  EXPECT_THROW(FrameAlignedError(good, good, Marks(2, 1), Marks(1, 1), {}, 1), Error);
  EXPECT_THROW(FrameAlignedError(good, {good.frames, RandomTensor({3, 3}, 2)}, Marks(2, 1), Marks(2, 1), {}, 1), Error);
  EXPECT_THROW(FrameAlignedError({good.points, good.points}, good, Marks(2, 1), Marks(2, 1), {}, 1), Error);
}

}  // namespace
}  // namespace headlight::ops::frame_aligned_error_test
