// headlight convert: a model folder with int8 or int4 weights.
#include <filesystem>
#include <memory>
#include <string>

#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/progress.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"

namespace headlight {
namespace {

struct Options {
  std::string folder, out, compute;
};

void Run(const Options& options) {
  std::error_code ignored;
  Check(!std::filesystem::equivalent(options.folder, options.out, ignored),
        "{}: is the folder to convert, which would be lost: name another for the result", options.out);
  const Progress progress("converting");
  const std::unique_ptr<Model> model = LoadModel(options.folder);
  SaveModelFolder(options.out, [&](const std::string& folder) {
    model->Save(folder, options.compute == "int4" ? Compute::int4 : Compute::int8);
    CopyBesideModel(options.folder, folder);
  });
  const auto megabytes = [](const std::string& folder) {  // of weights, in one file or several
    const ModelFolder files = OpenModelFolder(folder);
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : files.weights.tensors()) bytes += tensor.bytes.size();
    return static_cast<double>(bytes) / 1e6;
  };
  Note("{} has {:.1f} MB of weights, where {} has {:.1f}", options.out, megabytes(options.out), options.folder,
       megabytes(options.folder));
}

}  // namespace

void AddConvert(CLI::App& program) {
  const auto [command, options] = NewCommand(program, "convert", "Quantise a model's weights to int8 or int4", Run);
  command.add_option("DIR", options.folder, "The model's folder")->required()->check(Folder());
  command.add_option("OUT", options.out, "Folder for the result: a new one, or one with a model, which is replaced")
      ->required()
      ->check(NotEmpty());
  command.add_option("--compute", options.compute, "Type of the weights")
      ->required()
      ->type_name("int8|int4")
      ->check(OneOf({"int8", "int4"}));
  command.footer(
      "\nThe matrices of products become integers with a scale for each output (int8: a quarter of the size), or 4 "
      "bits\n"
      "a number with scales for groups of them too (int4: an eighth): exactly what --compute makes of them when it\n"
      "loads DIR. What remains stays float32. Only headlight reads the result.\n\n"
      "Example:\n"
      "  headlight convert model model-int8 --compute int8");
}

}  // namespace headlight
