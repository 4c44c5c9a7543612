// Changes colors. Results are bit for bit equal to torchvision's functions of the same names for PIL images.
#pragma once

#include "headlight/base/export.h"
#include "headlight/image/image.h"

namespace headlight {

/// Interpolate between a degenerate image (factor 0) and the image (factor 1). The degenerate image is black, uniformly
/// gray, grayscale or smoothed, in the order of the functions.
HEADLIGHT_API Image AdjustBrightness(const Image& image, double factor);
HEADLIGHT_API Image AdjustContrast(const Image& image, double factor);
HEADLIGHT_API Image AdjustSaturation(const Image& image, double factor);
HEADLIGHT_API Image AdjustSharpness(const Image& image, double factor);
/// Rotates the hue by a fraction of the color circle, from -0.5 to 0.5.
HEADLIGHT_API Image AdjustHue(const Image& image, double rotation);
HEADLIGHT_API Image Gray(const Image& image);
/// Inverts byte values greater than or equal to `threshold`.
HEADLIGHT_API Image Solarize(const Image& image, double threshold);
/// Keeps the upper `bits` of each byte, from 0 to 8.
HEADLIGHT_API Image Posterize(const Image& image, int bits);
/// Stretches the values of each channel to the range 0 to 255.
HEADLIGHT_API Image AutoContrast(const Image& image);
/// Makes the histogram of each channel as flat as possible.
HEADLIGHT_API Image Equalize(const Image& image);
/// Convolves the image with a Gaussian of `kernel` pixels, an odd number, and standard deviation `deviation`. Borders
/// are reflected. Results are within one level of torchvision's results, which are summed in another order.
HEADLIGHT_API Image GaussianBlur(const Image& image, int kernel, double deviation);

}  // namespace headlight
