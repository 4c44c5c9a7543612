// Colour changes, bit for bit equal to torchvision's functions of the same names for PIL images.
#pragma once

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

/// A factor of 1 keeps the image; 0 makes it black, uniformly grey, grey, or smooth.
HEADLIGHT_API Image AdjustBrightness(const Image& image, double factor);
HEADLIGHT_API Image AdjustContrast(const Image& image, double factor);
HEADLIGHT_API Image AdjustSaturation(const Image& image, double factor);
HEADLIGHT_API Image AdjustSharpness(const Image& image, double factor);
/// Rotates the hue by this share of the circle, -0.5 to 0.5.
HEADLIGHT_API Image AdjustHue(const Image& image, double rotation);
HEADLIGHT_API Image Grey(const Image& image);
/// Inverts bytes of at least `threshold`.
HEADLIGHT_API Image Solarize(const Image& image, double threshold);
/// Keeps the upper `bits` of each byte, 0 to 8.
HEADLIGHT_API Image Posterize(const Image& image, int bits);
/// Stretches the bytes of each channel to 0 to 255.
HEADLIGHT_API Image AutoContrast(const Image& image);
/// Gives each channel a histogram as flat as it can be.
HEADLIGHT_API Image Equalize(const Image& image);
/// Convolution with a Gaussian of `kernel` pixels, an odd number, and this standard deviation; borders are reflected.
/// Results are within one level of torchvision's, which adds in another order.
HEADLIGHT_API Image GaussianBlur(const Image& image, int kernel, double deviation);

}  // namespace headlight
