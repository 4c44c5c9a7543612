// headlight convert: converts a model to a folder in float32, int8 or int4, or to a GGUF file.
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>

#include "headlight/base/gguf.h"
#include "headlight/cli/commands/model_argument.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/io/gguf_mix.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/encoder_folder.h"
#include "headlight/recipes/convert_gguf.h"

namespace headlight::convert {
namespace {

struct Options {
  std::string folder, out, compute, type, importance, save_importance;
  bool overwrite = false;
};

std::vector<std::string> TypeNames() {
  std::vector<std::string> names;
  for (const GgufFileType& type : GgufFileTypes()) names.emplace_back(type.name);
  for (const char* usual : {"Q3_K", "Q4_K", "Q5_K"}) names.emplace_back(usual);
  return names;
}

// Returns an empty text for a known type, otherwise an error message.
std::string CheckType(const std::string& text) {
  try {
    GgufFileTypeOf(text);
    return {};
  } catch (const Error&) {
    return OneOf(TypeNames())(text);
  }
}

// Returns the size of the weights in megabytes, from one or several files.
double Megabytes(const std::string& folder) {
  const ModelFolder files = OpenModelFolder(folder);
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : files.weights.tensors()) bytes += tensor.bytes.size();
  return static_cast<double>(bytes) / 1e6;
}

// Describes the stored weights: the number of tensors of each type, and the total size.
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

void WriteGguf(const Options& options) {
  Check(options.compute.empty(), "--compute: is for folders; the tensors of a GGUF file have a --type");
  Check(options.importance.empty() || !options.type.empty(),
        "--importance: needs --type, since nothing else is rounded");
  Check(options.save_importance.empty() || !options.importance.empty(),
        "--save-importance: needs --importance, the text to measure it on");
  CheckOutputs({{"--out", options.out}, {"--save-importance", options.save_importance}},
               {options.folder, options.importance});
  CheckWritable(options.out);
  GgufConverted converted;
  {
    Progress progress("converting");
    GgufConversionObserver observer;
    observer.text = [&](std::int64_t tokens, std::int64_t total) { progress.Show(tokens, total); };
    observer.weights = [&](std::int64_t written, std::int64_t total) { progress.Show(written, total); };
    converted = ConvertToGguf({.model = options.folder,
                               .out = options.out,
                               .type = options.type,
                               .importance = options.importance,
                               .save_importance = options.save_importance,
                               .overwrite = options.overwrite},
                              observer);
  }
  std::string types;
  for (const auto& [type, count] : converted.tensors) types += fmt::format("{} in {}, ", count, InfoOf(type).name);
  Note("{}: tensors: {}{:.1f} MB", options.out, types, static_cast<double>(converted.bytes) / 1e6);
  if (!converted.left_out.empty())
    Note("{}: warning: left out, because GGUF has no key for it: {}", options.out, fmt::join(converted.left_out, ", "));
}

void Run(const Options& options) {
  if (options.out.ends_with(".gguf")) return WriteGguf(options);
  Check(!IsGguf(options.folder), "{}: a GGUF file can only be converted to another one, with --out NAME.gguf",
        options.folder);
  Check(!options.compute.empty(), "--compute: is needed for a folder; float32, int8 and int4 are known");
  const std::pair<const char*, const std::string*> of_gguf[] = {{"--type", &options.type},
                                                                {"--importance", &options.importance},
                                                                {"--save-importance", &options.save_importance}};
  for (const auto& [option, value] : of_gguf)
    Check(value->empty(), "{}: is for GGUF files, and --out {} does not end in .gguf", option, options.out);
  std::error_code ignored;
  Check(!std::filesystem::equivalent(options.folder, options.out, ignored),
        "--out {}: must not be the folder that is converted", options.out);
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
  AddModel(command, options.folder, "Folder of the model, a GGUF file, or an .npz file of AlphaFold 2");
  command
      .AddFile("--out", options.out,
               "Folder to write, or a file that ends in .gguf; a GGUF file is only converted to another", "PATH")
      .Required();
  command.Add("--overwrite", options.overwrite, "Replace the file --out, or the folder if it holds a model");
  command.Add("--type", options.type, "Types of the tensors in a GGUF file, such as Q4_K_M [those of the model]")
      .Type("TYPE")
      .Check(CheckType);
  command.AddFile("--importance", options.importance, "Text that weights errors by activations, or an imatrix in GGUF");
  command.AddFile("--save-importance", options.save_importance, "File for the importance matrix, in GGUF");
  command.Add("--compute", options.compute, "Type of the weights in a folder; required if --out is a folder")
      .Type("float32|int8|int4")
      .Check(OneOf({"float32", "int8", "int4"}));
  command.footer =
      "\nWith int8, weight matrices become 8-bit integers with a scale for each output, a quarter of the size. "
      "With int4 they become 4-bit integers with a scale for each group, about a seventh of the size. Embedding "
      "tables that are only looked up become int8 in both. All else stays float32. The result computes exactly "
      "as DIR does with the same --compute. Only headlight reads it; quantization_config of config.json lists "
      "the quantized tensors.\n\n"
      "With float32 nothing is rounded. Weights that were published in another layout get the names and the "
      "order of the family's folders.\n\n"
      "llama.cpp and headlight read a file OUT.gguf. --type is F32, F16, BF16, Q8_0, Q6_K, Q5_K_M, Q5_K_S, Q5_1, "
      "Q5_0, Q4_K_M, Q4_K_S, IQ4_NL, IQ4_XS, Q4_1, Q4_0, Q3_K_L, Q3_K_M, Q3_K_S or Q2_K. As in llama.cpp, "
      "matrices that matter more get more bits. With --importance, errors in columns with large activations "
      "count more.\n\n"
      "Examples:\n"
      "  headlight convert model --out model-int8 --compute int8\n"
      "  headlight convert gpt2 --out gpt2.gguf --type Q4_K_M\n"
      "  headlight convert gpt2 --out gpt2.gguf --type Q4_K_M --importance sample.txt\n"
      "  headlight convert params_model_3_ptm.npz --out model_3_ptm --compute float32";
}

}  // namespace headlight::convert
