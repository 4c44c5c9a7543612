// The options of a model that begins from nothing, whatever it learns.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "headlight/text/tokenizer_pipeline.h"

namespace CLI {
class App;
}

namespace headlight {

struct NewModel {
  std::string tokenizer;  // the folder of one
  int layers = 4;
  std::int32_t heads = 4;
  std::int64_t model = 256, ffn = 0, positions = 512;
  double dropout = 0.1;
  std::int64_t FfnDim() const { return ffn > 0 ? ffn : 4 * model; }
};

// All but --positions, which is not the same to all.
void AddNewModelOptions(CLI::App& command, NewModel& model);

// A token that a model needs, under one of the names that the published tokenizers give it. Throws Error where there is
// none.
std::int32_t TokenOf(const TokenizerPipeline& tokenizer, const std::string& folder, const char* what,
                     std::initializer_list<const char*> names);

}  // namespace headlight
