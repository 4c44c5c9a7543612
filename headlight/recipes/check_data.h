// Finds mistakes in a corpus or in folders of images, before a model is trained on them.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/base/option_table.h"
#include "headlight/recipes/check_options.h"

namespace headlight {

/// Describes the options except `shifts`. They must outlive the table.
HEADLIGHT_API void Describe(OptionTable& table, DataCheck& options);

/// Finds all kinds of mistakes in one run. A text corpus needs 16 bytes of memory per row, also for rows of `valid`,
/// and 19 more per pair while shifts are searched. Throws Error for a file that cannot be read, and for options that do
/// not fit the files.
HEADLIGHT_API CheckResult CheckData(const DataCheck& options, const CheckObserver& observer = {});

/// The result as an object: `unit`, `count`, and for each of `findings` its `kind`, `count`, `text` and `examples`.
HEADLIGHT_API Json ToJson(const CheckResult& result);

/// The unit of the count: "lines", or "line" for 1.
HEADLIGHT_API std::string UnitOf(const CheckResult& result);

/// The findings in one line, as noted by a training: "checked de, en (200 pairs): nothing found". Shifts, examples and
/// long texts are not searched, nor what a training on images notes itself: damaged images, files that are left out,
/// and classes named as splits. Empty for a pipe, which can be read once, and for files that CheckData does not read.
std::string CheckSummary(DataCheck options);

}  // namespace headlight
