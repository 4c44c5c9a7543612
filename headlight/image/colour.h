// Changes of a picture's colours, as torchvision's functions of these names make them of a PIL picture, bit for bit.
#pragma once

#include "headlight/base/export.h"
#include "headlight/image/picture.h"

namespace headlight {

// factor 1 keeps the picture; 0 makes it black, uniformly grey, grey, or smooth.
HEADLIGHT_API Picture AdjustBrightness(const Picture& picture, double factor);
HEADLIGHT_API Picture AdjustContrast(const Picture& picture, double factor);
HEADLIGHT_API Picture AdjustSaturation(const Picture& picture, double factor);
HEADLIGHT_API Picture AdjustSharpness(const Picture& picture, double factor);
// Turns the hue by this share of the circle, -0.5 to 0.5.
HEADLIGHT_API Picture AdjustHue(const Picture& picture, double turn);
HEADLIGHT_API Picture Grey(const Picture& picture);
// Inverts bytes of at least `threshold`.
HEADLIGHT_API Picture Solarize(const Picture& picture, double threshold);
// Keeps the upper `bits` of each byte, 0 to 8.
HEADLIGHT_API Picture Posterize(const Picture& picture, int bits);
// Stretches the bytes of each channel to 0 to 255.
HEADLIGHT_API Picture AutoContrast(const Picture& picture);
// Gives each channel a histogram as flat as it can be.
HEADLIGHT_API Picture Equalize(const Picture& picture);
// A convolution with a Gaussian of `kernel` pixels, an odd number, and this deviation; the picture goes on mirrored at
// its sides. Within one level of torchvision's, which adds up in another order.
HEADLIGHT_API Picture GaussianBlur(const Picture& picture, int kernel, double deviation);

}  // namespace headlight
