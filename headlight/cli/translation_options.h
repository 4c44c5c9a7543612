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

// Binds --compute to `compute`, which must outlive the program.
void AddComputeOption(CLI::App& command, std::optional<kernels::Compute>& compute);

// Binds --beam-size, --length-penalty, --max-length and --batch-tokens to `options`, and --compute, likewise.
void AddTranslationOptions(CLI::App& command, TranslateOptions& options, std::optional<kernels::Compute>& compute);

}  // namespace headlight
