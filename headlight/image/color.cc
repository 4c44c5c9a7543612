#include "headlight/image/color.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {
namespace {

using Table = std::array<std::uint8_t, 256>;

std::uint8_t Byte(float value) {  // truncates instead of rounding
  return value <= 0 ? 0 : value >= 255 ? 255 : static_cast<std::uint8_t>(value);
}

// Computes Pillow's blend: from + factor * (to - from).
std::uint8_t Blend(int from, int to, float factor) {
  return Byte(static_cast<float>(from) + factor * static_cast<float>(to - from));
}

Image Blended(const Image& from, const Image& to, double factor) {
  Image blended = to;
  for (std::size_t i = 0; i < to.pixels.size(); ++i)
    blended.pixels[i] = Blend(from.pixels[i], to.pixels[i], static_cast<float>(factor));
  return blended;
}

// Returns the ITU-R 601-2 luma, computed with 16 fractional bits.
int Luma(const std::uint8_t* rgb) { return (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16; }

Image Mapped(const Image& image, const std::array<const Table*, 3>& tables) {
  Image mapped = image;
  for (std::size_t i = 0; i < mapped.pixels.size(); ++i) mapped.pixels[i] = (*tables[i % 3])[mapped.pixels[i]];
  return mapped;
}

Image Mapped(const Image& image, const Table& table) { return Mapped(image, {&table, &table, &table}); }

// Applies a lookup table to each channel. The table is computed from the channel's histogram.
template <typename TableOf>
Image MappedByHistogram(const Image& image, const TableOf& table_of) {
  std::array<std::array<std::int64_t, 256>, 3> histograms{};
  for (std::size_t i = 0; i < image.pixels.size(); ++i) ++histograms[i % 3][image.pixels[i]];
  const std::array<Table, 3> tables = {table_of(histograms[0]), table_of(histograms[1]), table_of(histograms[2])};
  return Mapped(image, {&tables[0], &tables[1], &tables[2]});
}

template <typename Value>
Table TableBy(const Value& value) {
  Table table;
  for (int byte = 0; byte < 256; ++byte)
    table[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(std::clamp<std::int64_t>(value(byte), 0, 255));
  return table;
}

// Smooths the image with a 3 x 3 kernel. The weight of the pixel is 5/13, and the weight of each neighbor is 1/13.
// Border pixels are unchanged.
Image Smooth(const Image& image) {
  Image smooth = image;
  for (std::int64_t y = 1; y + 1 < image.height; ++y)
    for (std::int64_t i = 3; i < 3 * (image.width - 1); ++i) {
      int sum = 4 * image.row(y)[i];
      for (std::int64_t row = y - 1; row <= y + 1; ++row)
        for (std::int64_t column = i - 3; column <= i + 3; column += 3) sum += image.row(row)[column];
      smooth.row(y)[i] = static_cast<std::uint8_t>((2 * sum + 13) / 26);
    }
  return smooth;
}

struct Hsv {
  std::uint8_t hue, saturation, value;
};

Hsv ToHsv(const std::uint8_t* rgb) {
  const std::uint8_t r = rgb[0], g = rgb[1], b = rgb[2];
  const std::uint8_t most = std::max({r, g, b}), least = std::min({r, g, b});
  if (most == least) return {0, 0, most};
  const auto range = static_cast<float>(most - least);
  const float red = static_cast<float>(most - r) / range, green = static_cast<float>(most - g) / range,
              blue = static_cast<float>(most - b) / range;
  float hue;
  if (r == most)
    hue = blue - green;
  else if (g == most)
    hue = static_cast<float>(2.0 + static_cast<double>(red) - static_cast<double>(blue));
  else
    hue = static_cast<float>(4.0 + static_cast<double>(green) - static_cast<double>(red));
  hue = static_cast<float>(std::fmod(static_cast<double>(hue) / 6.0 + 1.0, 1.0));
  return {static_cast<std::uint8_t>(static_cast<double>(hue) * 255.0),
          static_cast<std::uint8_t>(static_cast<double>(range / static_cast<float>(most)) * 255.0), most};
}

void FromHsv(Hsv hsv, std::uint8_t* rgb) {
  if (hsv.saturation == 0) {
    std::fill_n(rgb, 3, hsv.value);
    return;
  }
  const double sixth = static_cast<double>(hsv.hue) * 6.0 / 255.0;
  const int part = static_cast<int>(sixth);
  // Intermediate values are rounded to float, as in Pillow.
  const auto left = static_cast<float>(sixth - part), share = static_cast<float>(hsv.saturation / 255.0);
  const auto f = static_cast<double>(left), s = static_cast<double>(share), s_f = static_cast<double>(share * left);
  const auto of_value = [&](double part_of_it) {
    return static_cast<std::uint8_t>(std::clamp(std::round(static_cast<double>(hsv.value) * part_of_it), 0.0, 255.0));
  };
  const std::uint8_t v = hsv.value, p = of_value(1 - s), q = of_value(1 - s_f), t = of_value(1 - s * (1 - f));
  const std::array<std::array<std::uint8_t, 3>, 6> parts = {
      {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}}};
  std::ranges::copy(parts[static_cast<std::size_t>(part % 6)], rgb);
}

}  // namespace

Image AdjustBrightness(const Image& image, double factor) {
  return Mapped(image, TableBy([&](int byte) { return Blend(0, byte, static_cast<float>(factor)); }));
}

Image AdjustContrast(const Image& image, double factor) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) sum += Luma(&image.pixels[i]);
  const auto pixels = static_cast<double>(std::max<std::size_t>(1, image.pixels.size() / 3));
  const int mean = static_cast<int>(static_cast<double>(sum) / pixels + 0.5);
  return Mapped(image, TableBy([&](int byte) { return Blend(mean, byte, static_cast<float>(factor)); }));
}

Image AdjustSaturation(const Image& image, double factor) { return Blended(Gray(image), image, factor); }

Image AdjustSharpness(const Image& image, double factor) { return Blended(Smooth(image), image, factor); }

Image AdjustHue(const Image& image, double rotation) {
  Check(rotation >= -0.5 && rotation <= 0.5, "a hue can be rotated by -0.5 to 0.5 of the circle, not by {}", rotation);
  const int added = static_cast<int>(rotation * 255);
  Image rotated = image;
  for (std::size_t i = 0; i < rotated.pixels.size(); i += 3) {
    Hsv hsv = ToHsv(&rotated.pixels[i]);
    hsv.hue = static_cast<std::uint8_t>(hsv.hue + added);  // modulo 256
    FromHsv(hsv, &rotated.pixels[i]);
  }
  return rotated;
}

Image Gray(const Image& image) {
  Image gray = image;
  for (std::size_t i = 0; i < gray.pixels.size(); i += 3)
    std::fill_n(&gray.pixels[i], 3, static_cast<std::uint8_t>(Luma(&gray.pixels[i])));
  return gray;
}

Image Solarize(const Image& image, double threshold) {
  return Mapped(image, TableBy([&](int byte) { return byte < threshold ? byte : 255 - byte; }));
}

Image Posterize(const Image& image, int bits) {
  Check(bits >= 0 && bits <= 8, "0 to 8 bits of a byte can be kept, not {}", bits);
  return Mapped(image, TableBy([&](int byte) { return byte & ~((1 << (8 - bits)) - 1); }));
}

Image AutoContrast(const Image& image) {
  return MappedByHistogram(image, [](const std::array<std::int64_t, 256>& histogram) {
    int low = 0, high = 255;
    while (low < 255 && histogram[static_cast<std::size_t>(low)] == 0) ++low;
    while (high > 0 && histogram[static_cast<std::size_t>(high)] == 0) --high;
    if (high <= low) return TableBy([](int byte) { return byte; });
    const double scale = 255.0 / (high - low), offset = -low * scale;
    return TableBy([&](int byte) { return static_cast<int>(byte * scale + offset); });
  });
}

Image Equalize(const Image& image) {
  return MappedByHistogram(image, [](const std::array<std::int64_t, 256>& histogram) {
    std::int64_t all = 0, last = 0;
    for (const std::int64_t count : histogram) {
      all += count;
      if (count > 0) last = count;
    }
    const std::int64_t step = (all - last) / 255;
    if (step == 0) return TableBy([](int byte) { return byte; });
    std::int64_t below = step / 2;
    return TableBy([&](int byte) {
      const std::int64_t level = below / step;
      below += histogram[static_cast<std::size_t>(byte)];
      return level;
    });
  });
}

Image GaussianBlur(const Image& image, int kernel, double deviation) {
  Check(kernel >= 1 && kernel % 2 == 1 && deviation > 0,
        "a blur needs an odd kernel size and a deviation above 0, not {} and {}", kernel, deviation);
  const int half = kernel / 2;
  std::vector<float> weights;
  double sum = 0;
  for (int i = -half; i <= half; ++i) sum += std::exp(-0.5 * i * i / (deviation * deviation));
  for (int i = -half; i <= half; ++i)
    weights.push_back(static_cast<float>(std::exp(-0.5 * i * i / (deviation * deviation)) / sum));
  // The indices of pixels beyond the sides are reflected, without repeating the outermost pixel.
  const auto reflected = [&](std::int64_t side) {
    std::vector<std::int64_t> indices;
    const std::int64_t period = std::max<std::int64_t>(1, 2 * (side - 1));
    for (std::int64_t i = -half; i < side + half; ++i) {
      const std::int64_t within = ((i % period) + period) % period;
      indices.push_back(within < side ? within : period - within);
    }
    return indices;
  };
  const std::vector<std::int64_t> columns = reflected(image.width), rows = reflected(image.height);
  const std::int64_t row_size = 3 * image.width;
  std::vector<float> across(static_cast<std::size_t>(image.height * row_size)), row(static_cast<std::size_t>(row_size));
  for (std::int64_t y = 0; y < image.height; ++y)
    for (std::int64_t x = 0; x < image.width; ++x)
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const std::uint8_t* const from = image.row(y) + 3 * columns[static_cast<std::size_t>(x) + i];
        float* const to = &across[static_cast<std::size_t>(y * row_size + 3 * x)];
        for (int channel = 0; channel < 3; ++channel) to[channel] += weights[i] * static_cast<float>(from[channel]);
      }
  Image blurred = image;
  for (std::int64_t y = 0; y < image.height; ++y) {
    std::ranges::fill(row, 0.0F);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const float* const from = &across[static_cast<std::size_t>(rows[static_cast<std::size_t>(y) + i] * row_size)];
      for (std::size_t x = 0; x < row.size(); ++x) row[x] += weights[i] * from[x];
    }
    for (std::size_t x = 0; x < row.size(); ++x)
      blurred.row(y)[x] = static_cast<std::uint8_t>(std::clamp(std::nearbyint(row[x]), 0.0F, 255.0F));
  }
  return blurred;
}

}  // namespace headlight
