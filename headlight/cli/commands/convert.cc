// headlight convert: a model's folder from another, or from published weights, in float32, int8 or int4.
#include <filesystem>
#include <memory>
#include <string>

#include "headlight/cli/commands/model_argument.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/encoder_folder.h"

namespace headlight::convert {
namespace {

struct Options {
  std::string folder, out, compute;
  bool overwrite = false;
};

// Of weights, in one file or several.
double Megabytes(const std::string& folder) {
  const ModelFolder files = OpenModelFolder(folder);
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : files.weights.tensors()) bytes += tensor.bytes.size();
  return static_cast<double>(bytes) / 1e6;
}

// How many tensors have which type, and the size of all.
std::string SavedIn(const std::string& folder) {
  const ModelFolder files = OpenModelFolder(folder);
  std::size_t int8 = 0, int4 = 0, others = 0;
  for (const auto& [name, tensor] : files.weights.tensors()) {
    if (name.ends_with("_scale")) continue;
    ++(tensor.type == StoredType::i8 ? int8 : tensor.type == StoredType::u8 ? int4 : others);
  }
  std::string saved;
  if (int4 > 0) saved += fmt::format("{} matrices in int4, ", int4);
  if (int8 > 0)
    saved += fmt::format("{} {} in int8, ", int8, int4 == 0 ? "matrices and tables" : int8 == 1 ? "table" : "tables");
  return fmt::format("{}{} other tensors in float32; {:.1f} MB of weights", saved, others, Megabytes(folder));
}

void Run(const Options& options) {
  std::error_code ignored;
  Check(!std::filesystem::equivalent(options.folder, options.out, ignored),
        "{}: is the folder to convert, which would be lost: name another for the result", options.out);
  Check(options.overwrite || !std::filesystem::exists(options.out) || std::filesystem::is_empty(options.out, ignored),
        "--out {}: exists already; --overwrite replaces a folder that has a model", options.out);
  const Progress progress("converting");
  const std::unique_ptr<Model> model = LoadModel(options.folder);
  CheckFinite(model->parameters().state(), *model, "converting");
  SaveModelFolder(options.out, [&](const std::string& folder) {
    const Compute compute = options.compute == "int4"   ? Compute::int4
                            : options.compute == "int8" ? Compute::int8
                                                        : Compute::float32;
    model->Save(folder, compute);
    if (!IsNpz(options.folder)) CopyBesideModel(options.folder, folder);
  });
  Note("{}: {}, where {} has {:.1f}", options.out, SavedIn(options.out), options.folder, Megabytes(options.folder));
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "convert", "Quantize or convert a model", Run);
  AddModel(command, options.folder, "The model's folder, or an .npz file of AlphaFold 2");
  command.AddFile("--out", options.out, "Folder for the result", "DIR").Required();
  command.Add("--overwrite", options.overwrite, "Replace the folder --out if it has a model");
  command.Add("--compute", options.compute, "Type of the weights")
      .Required()
      .Type("float32|int8|int4")
      .Check(OneOf({"float32", "int8", "int4"}));
  command.footer =
      "\nWeight matrices become 8-bit integers with a scale for each output (int8: a quarter of the size), or 4-bit "
      "ones\n"
      "with scales for groups of them too (int4: an eighth). Tables of embeddings that are only looked up become int8\n"
      "in either. What remains stays float32. Such a folder computes exactly as DIR does with the same --compute, and "
      "is\n"
      "read by headlight alone; config.json lists the quantized tensors in quantization_config. With float32 nothing "
      "is\n"
      "rounded: weights that were published in another layout get the names and the order of the family's folders.\n\n"
      "Examples:\n"
      "  headlight convert model --out model-int8 --compute int8\n"
      "  headlight convert params_model_3_ptm.npz --out model_3_ptm --compute float32";
}

}  // namespace headlight::convert
