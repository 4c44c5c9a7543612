#include "headlight/cli/new_model.h"

#include <CLI/CLI.hpp>
#include <optional>

#include "headlight/base/error.h"

namespace headlight {

void AddNewModelOptions(CLI::App& command, NewModel& model) {
  constexpr const char* group = "A model from nothing";
  command.add_option("--tokenizer", model.tokenizer, "a folder with the tokenizer of a model from nothing")
      ->type_name("DIR");
  command.add_option("--layers", model.layers, "layers")->capture_default_str()->group(group);
  command.add_option("--model-dim", model.model, "size of embeddings and layers")->capture_default_str()->group(group);
  command.add_option("--heads", model.heads, "attention heads")->capture_default_str()->group(group);
  command
      .add_option("--ffn-dim", model.ffn, "inner size of the feed-forward network; 4 times the model's unless given")
      ->group(group);
  command.add_option("--dropout", model.dropout, "of embeddings, sublayers and attention")
      ->capture_default_str()
      ->group(group);
}

std::int32_t TokenOf(const TokenizerPipeline& tokenizer, const std::string& folder, const char* what,
                     std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const std::optional<std::int32_t> id = tokenizer.Find(name)) return *id;
  Fail("{}: the tokenizer has no {}: none of {}", folder, what, fmt::join(names, ", "));
}

}  // namespace headlight
