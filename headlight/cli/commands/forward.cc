// headlight forward: runs a model on tensors with Transformers' names, for example to check a conversion.
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/in_file.h"
#include "headlight/cli/commands/model_argument.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/io/safetensors.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/models/family.h"

namespace headlight::forward {
namespace {

struct Options {
  std::string folder, in, out;
};

void Run(const Options& options) {
  CheckOutputs({{"--out", options.out}}, {options.folder, options.in});
  const Safetensors in(Input(options.in));
  const std::unique_ptr<const Model> model = LoadModel(options.folder);
  const Progress progress("running the model");
  const NamedTensors out = InFile(in.path(), [&] { return model->Forward(in); });
  std::vector<StoredTensor> stored;
  for (const auto& [name, tensor] : out.tensors) stored.push_back(Stored(name, tensor));
  WriteSafetensors(options.out, std::move(stored));
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "forward", "Run a model on a file of tensors", Run);
  AddModel(command, options.folder, "Folder of the model, a GGUF file, or an .npz file of AlphaFold 2");
  command.Add("IN", options.in, "Safetensors file with the inputs; - is standard input").Required().Check(NotEmpty());
  command.AddFile("--out", options.out, "Safetensors file to write the outputs to").Required();
  command.footer =
      "\nInputs and outputs have the names of Transformers, such as input_ids and attention_mask, or "
      "pixel_values, and last_hidden_state and logits. An AlphaFold has the names of OpenFold. An unknown "
      "name is an error that lists the names. Attention weights are attentions.LAYER, "
      "encoder_attentions.LAYER and so on, with layers counted from 0.\n\n"
      "Ids and masks are integers [batch, length]. Masks are 1 for tokens and 0 for padding before or after "
      "them. Outputs are float32, and 0 at padding. The documentation of file formats lists the tensors of each "
      "family.\n\n"
      "Example:\n"
      "  headlight forward model inputs.safetensors --out outputs.safetensors";
}

}  // namespace headlight::forward
