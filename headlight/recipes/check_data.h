// Finds mistakes in a corpus or in image folders before training.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/base/option_table.h"
#include "headlight/recipes/check_options.h"

namespace headlight {

/// Adds all options except `shifts` to the table. `options` must outlive the table.
HEADLIGHT_API void Describe(OptionTable& table, DataCheck& options);

/// Finds all kinds of mistakes in one run. A text corpus needs 16 bytes of memory per row, including rows of `valid`,
/// and 19 more per pair during the search for shifts. Throws Error for a file that cannot be read, and for options that
/// do not fit the files.
HEADLIGHT_API CheckResult CheckData(const DataCheck& options, const CheckObserver& observer = {});

/// Returns the result as a JSON object: `unit`, `count`, and `findings` with the `kind`, `count`, `text` and `examples`
/// of each finding.
HEADLIGHT_API Json ToJson(const CheckResult& result);

/// Returns the unit of the count: "lines", or "line" for 1.
HEADLIGHT_API std::string UnitOf(const CheckResult& result);

/// Returns the findings in one line for the log of a training run, such as "checked de, en (200 pairs): nothing found".
/// Does not search for shifts and does not decode images. Omits long texts, skipped files and classes that are named
/// like splits, which the training run reports. Returns "" for a pipe, which can only be read once, and for files that
/// CheckData cannot read.
std::string CheckSummary(DataCheck options);

}  // namespace headlight
