// The options of every command that translates.
#pragma once

#include <optional>

#include "headlight/base/compute.h"

namespace CLI {
class App;
}

namespace headlight {

struct LoadOptions;
struct TranslateOptions;

// Binds --compute to `compute`, which must outlive the program.
void AddComputeOption(CLI::App& command, std::optional<Compute>& compute);

// Binds --draft, likewise.
void AddDraftOption(CLI::App& command, bool& draft);

// Binds --compute, --shortlist and --draft to `load`, and --beam-size, --length-penalty, --max-length and
// --batch-tokens to `options`, likewise.
void AddTranslationOptions(CLI::App& command, LoadOptions& load, TranslateOptions& options);

// Binds --task, --prefix, --source-language and --target-language to `options`, likewise.
void AddTaskOptions(CLI::App& command, TranslateOptions& options);

}  // namespace headlight
