// The options of every command that translates.
#pragma once

namespace CLI {
class App;
}

namespace headlight {

struct TranslateOptions;

// Binds --beam-size, --length-penalty, --max-length and --batch-tokens to `options`, which must outlive the program.
void AddTranslationOptions(CLI::App& command, TranslateOptions& options);

}  // namespace headlight
