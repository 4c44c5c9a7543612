// The options of every command that translates.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace headlight {

namespace kernels {
enum class Compute;
}

struct TranslateOptions;

// Binds --compute to `compute` and --beam-size, --length-penalty, --max-length and --batch-tokens to `options`; both
// must outlive the program.
void AddTranslationOptions(CLI::App& command, TranslateOptions& options, std::optional<kernels::Compute>& compute);

}  // namespace headlight
