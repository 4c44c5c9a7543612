// Command-line options for a Translator and for all models.
#pragma once

#include <optional>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/base/option_table.h"

namespace headlight {

struct LoadOptions;
struct TranslateOptions;

/// The models that a command reads.
enum class ModelFiles { folders, folders_and_gguf };

/// Binds --compute to `compute`, which must outlive `command`. `files` only selects the help.
HEADLIGHT_API void AddComputeOption(OptionTable& command, std::optional<Compute>& compute,
                                    ModelFiles files = ModelFiles::folders);

/// Binds --draft to `draft`, which must outlive `command`.
HEADLIGHT_API void AddDraftOption(OptionTable& command, bool& draft);

/// Binds --compute, --shortlist and --draft to `load`, and --beam-size, --length-penalty, --max-length and
/// --batch-tokens to `options`. Both must outlive `command`.
HEADLIGHT_API void AddTranslationOptions(OptionTable& command, LoadOptions& load, TranslateOptions& options);

/// Binds --task, --prefix, --source-language and --target-language to `options`, which must outlive `command`.
HEADLIGHT_API void AddTaskOptions(OptionTable& command, TranslateOptions& options);

}  // namespace headlight
