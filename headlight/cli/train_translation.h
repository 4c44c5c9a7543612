// headlight train translation: raw parallel text to a model folder.
#pragma once

namespace CLI {
class App;
}

namespace headlight {

// Adds the command below `train`.
void AddTrainTranslation(CLI::App& train);

}  // namespace headlight
