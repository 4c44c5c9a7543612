// Removes the padding from padded batches of goldens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/sequences.h"
#include "headlight/io/safetensors.h"
#include "tests/parity_testing.h"

namespace headlight {

// The texts of a batch, packed without padding.
struct UnpaddedTexts {
  UnpaddedTexts() = default;
  // Reads ids and a mask [texts, longest]. The result is empty if the file has no such ids.
  UnpaddedTexts(const Safetensors& file, const std::string& ids_name, const std::string& mask_name) {
    if (!file.contains(ids_name)) return;
    const Tensor all = file.Read(ids_name, DType::int32), mask = file.Read(mask_name, DType::int32);
    for (std::int64_t b = 0; b < all.rows(); ++b) {
      const auto begin = static_cast<std::int32_t>(ids.size());
      for (std::int64_t i = 0; i < all.columns(); ++i) {
        if (mask.matrix<std::int32_t>().row(b)[i] == 0) continue;
        if (static_cast<std::size_t>(b) == first.size()) first.push_back(static_cast<std::int32_t>(i));
        kept.push_back(b * all.columns() + i);
        ids.push_back(all.matrix<std::int32_t>().row(b)[i]);
      }
      texts.push_back({begin, static_cast<std::int32_t>(ids.size()) - begin});
    }
  }

  // Returns the rows [texts, longest, columns] without padding rows.
  Numbers Rows(const Tensor& padded) const {
    Numbers result;
    for (const std::int64_t row : kept) {
      const double* values = padded.matrix<double>().row(row);
      result.insert(result.end(), values, values + padded.columns());
    }
    return result;
  }

  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> first;  // first column of each text
  std::vector<std::int64_t> kept;   // rows of the padded batch that are not padding
  Sequences texts;
};

}  // namespace headlight
