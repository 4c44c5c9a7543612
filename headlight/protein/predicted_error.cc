#include "headlight/protein/predicted_error.h"

#include <fmt/format.h>

#include <iterator>

#include "headlight/base/error.h"

namespace headlight {

std::string WritePredictedErrors(const Matrix<const float>& errors, double most) {
  Check(errors.rows == errors.columns && errors.rows > 0, "predicted errors of {} x {} residues, which must be square",
        errors.rows, errors.columns);
  // Built as text: as values of Json an error would take 40 bytes.
  std::string text = "[{\"predicted_aligned_error\":[";
  for (std::int64_t i = 0; i < errors.rows; ++i) {
    text += i == 0 ? "[" : ",[";
    for (std::int64_t j = 0; j < errors.columns; ++j) {
      const float error = errors.row(i)[j];
      if (!(error >= 0 && error <= most))
        Fail("the predicted error of residues {} and {} is {}, not from 0 to {}", i + 1, j + 1, error, most);
      fmt::format_to(std::back_inserter(text), "{}{:.1f}", j == 0 ? "" : ",", error);
    }
    text += ']';
  }
  text += fmt::format("],\"max_predicted_aligned_error\":{}}}]\n", most);
  return text;
}

}  // namespace headlight
