// What is wrong with a corpus or with folders of images, before a model is trained on them.
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

/// Looks for all mistakes at once. Memory of a text corpus: 16 bytes a row, also for each of `valid`, and 19 more for
/// each pair while shifts are searched for. Throws Error for a file that cannot be read, and for options that do not
/// fit the files.
HEADLIGHT_API CheckResult CheckData(const DataCheck& options, const CheckObserver& observer = {});

/// The result as an object: `unit`, `count`, and for each of `findings` its `kind`, `count`, `text` and `examples`.
HEADLIGHT_API Json ToJson(const CheckResult& result);

/// The unit of the count: "lines", or "line" for 1.
HEADLIGHT_API std::string UnitOf(const CheckResult& result);

/// The findings in one line, as a training notes them: "checked de, en (200 pairs): nothing found".
/// Shifts, examples and long texts are not searched for. Empty for a pipe, which can be read once, and for files that
/// CheckData does not read.
std::string CheckSummary(DataCheck options);

}  // namespace headlight
