#include "headlight/cli/commands/fold_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/commands/alignment_search.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/inspect/drawing/confidence_drawing.h"
#include "headlight/io/model_folder.h"
#include "headlight/io/safetensors.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/structure_predictor.h"
#include "headlight/protein/alignment_table.h"
#include "headlight/protein/files/structure_files.h"
#include "headlight/protein/predicted_error.h"
#include "headlight/text/printable.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

struct Query {
  std::string name;                     // name of the output files; empty if the query could not be read
  std::string letters;                  // residues; empty if not known yet
  std::vector<std::string> alignments;  // may be empty
  std::string out;                      // path of the structure file
  std::string error = {};               // why the query could not be read
};

// Returns the first word of a FASTA header as a file name. Replaces characters that are not safe in file names.
std::string FileName(const std::string& header) {
  constexpr std::size_t kLongest = 200;
  std::string name = header.substr(0, std::min(header.find_first_of(" \t"), kLongest));
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!plain && c != '_' && c != '.') c = '_';
  }
  if (name.empty() || name.front() == '.') name.insert(0, "_");
  return name;
}

// Returns the name of a file without its folder and last extension.
std::string StemOf(const std::string& path) { return fs::path(path).stem().string(); }

std::vector<Query> QueriesOf(const FoldCommandOptions& options) {
  if (options.file.empty())
    return {{StemOf(options.out), LettersOf(options.sequence, "--sequence"), options.alignments, options.out}};
  std::vector<Query> queries;
  std::set<std::string> names;
  FastaReader reader(Input(options.file));
  std::string error;
  // Returns the next sequence, or nullopt at the end of the file. An unreadable sequence is added as a query with an
  // error. If the same error occurs again, the rest of the file cannot be read, and the error is rethrown.
  const auto next = [&]() -> std::optional<ProteinSequence> {
    while (true) {
      try {
        return reader.Next();
      } catch (const Error& failure) {
        if (failure.cause() != ErrorCause::user || error == failure.what()) throw;
        error = failure.what();
        queries.push_back({{}, {}, {}, {}, error});
      }
    }
  };
  while (const std::optional<ProteinSequence> sequence = next()) {
    Query query{FileName(sequence->name), sequence->letters, {}, ""};
    query.out = fmt::format("{}/{}.{}", options.out, query.name, options.out_format);
    Check(names.insert(query.name).second, "{}: line {}: two queries would be written to {}", reader.name(),
          sequence->line, query.out);
    if (!options.alignment_folder.empty()) {
      for (const char* const ending : {".a3m", ".a3m.gz", ".sto", ".sto.gz"})
        if (const std::string path = options.alignment_folder + "/" + query.name + ending; Exists(path))
          query.alignments.push_back(path);
    }
    queries.push_back(std::move(query));
  }
  Check(!queries.empty(), "{}: holds no sequence", reader.name());
  return queries;
}

// Returns the path of a file next to the structure file, for the prediction with this rank (from 1).
std::string Beside(const Query& query, std::size_t rank, std::string_view ending) {
  const fs::path path(query.out);
  const std::string stem = (path.parent_path() / path.stem()).string();
  return rank == 1 ? fmt::format("{}.{}", stem, ending) : fmt::format("{}.{}.{}", stem, rank, ending);
}

struct Prediction {
  std::string model;
  std::uint64_t seed = 0;
  PredictedStructure predicted;
};

class QueryFolder {
 public:
  explicit QueryFolder(const FoldCommandOptions& options) : options_(options) {}

  // Predicts the structures of a query, and returns them sorted by score, with the best structure first.
  std::vector<Prediction> Predict(const Query& query, Progress& progress, const std::string& location) {
    std::vector<std::string> alignments = query.alignments;
    AlignmentTable table;
    if (alignments.empty()) table = TableOfSequence(query.letters);
    if (alignments.empty() && !options_.database.empty()) {
      alignments.push_back(Beside(query, 1, "a3m"));
      SearchAlignment(options_.database, query.letters, alignments[0]);
    }
    if (!alignments.empty()) {
      table = ReadAlignmentTable(alignments, {.alignment = {.query = query.letters}, .seed = options_.seed});
      Note("{}: {} residues, {} rows, {} distinct, {} held", location, table.residues(), table.read, table.distinct,
           table.rows.size());
    }
    constexpr std::int64_t kMostOfPdb = 9999;  // largest residue number in PDB files
    Check(!query.out.ends_with(".pdb") || table.residues() <= kMostOfPdb,
          "{}: PDB can hold {} residues, not {}; use mmCIF (.cif)", query.out, kMostOfPdb, table.residues());
    const std::vector<ProteinTemplate> templates = TemplatesOf(table);
    std::vector<Prediction> predictions;
    const std::int64_t runs = std::ssize(options_.models) * options_.num_seeds;
    for (const std::string& model : options_.models) {
      const auto& folder = LoadedFrom(model);
      Check(alignments.empty() || folder.model().plan().rows > 0, "{}: this model reads no alignment", model);
      const bool reads = folder.model().plan().templates > 0;
      if (!reads && !templates.empty()) {
        Check(options_.models.size() > 1, "{}: this model reads no templates", model);
        Note("{}: this model reads no templates and ignores them", model);
      }
      for (std::int64_t i = 0; i < options_.num_seeds; ++i) {
        const std::int64_t before = std::ssize(predictions);
        const auto show = [&](std::int64_t done, std::int64_t most) {
          progress.Show(before * most + done, runs * most);
        };
        const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(i);
        PredictedStructure predicted =
            folder.Predict(table, {.seed = seed,
                                   .recycles = options_.recycles,
                                   .rows = options_.rows,
                                   .extra = options_.extra,
                                   .templates = reads ? templates : std::vector<ProteinTemplate>(),
                                   .tolerance = options_.tolerance,
                                   .progress = show});
        Check(options_.rank != "ptm" || predicted.ptm, "--rank ptm: {} predicts no TM-score", model);
        predictions.push_back({model, seed, std::move(predicted)});
        DropRepresentations(predictions);
      }
    }
    std::ranges::stable_sort(predictions, std::greater{}, [&](const Prediction& one) { return ScoreOf(one); });
    return predictions;
  }

 private:
  std::vector<ProteinTemplate> TemplatesOf(const AlignmentTable& table) const {
    const std::vector<std::uint8_t>& query = table.rows.front().residues;
    std::vector<ProteinTemplate> templates =
        ReadTemplates(options_.templates, options_.template_alignment, query, ReadStructure);
    for (const ProteinTemplate& one : templates) {
      std::int64_t same = 0;
      for (std::size_t i = 0; i < query.size(); ++i) same += one.residues[i].type == query[i] ? 1 : 0;
      Note("template {}: {} of {} residues are aligned, {} are the same", one.name, one.aligned(), query.size(), same);
    }
    return templates;
  }

  double ScoreOf(const Prediction& prediction) const {
    return options_.rank == "ptm" ? *prediction.predicted.ptm : prediction.predicted.mean_plddt;
  }

  // Frees representations that will not be written. Pair representations need the most memory.
  void DropRepresentations(std::vector<Prediction>& predictions) const {
    if (options_.embeddings && options_.all) return;
    const auto best = std::ranges::max_element(predictions, {}, [&](const Prediction& one) { return ScoreOf(one); });
    for (auto one = predictions.begin(); one != predictions.end(); ++one)
      if (one != best || !options_.embeddings) one->predicted.single = one->predicted.pair = {};
  }

  // Returns the loaded model. If there are several models, they are loaded one after another for each query, so that
  // only one of them is in memory. Loading takes little time.
  const class StructurePredictor& LoadedFrom(const std::string& model) {
    if (loaded_from_ != model) {
      loaded_.reset();
      loaded_ = StructurePredictor::Load(model, {.compute = options_.compute});
      loaded_from_ = model;
    }
    return *loaded_;
  }

  const FoldCommandOptions& options_;
  std::optional<class StructurePredictor> loaded_;
  std::string loaded_from_;
};

// Writes the files of a prediction. The structure is written last, so that its existence shows that all files are
// complete.
void Write(const Query& query, std::size_t rank, Prediction& prediction, const FoldCommandOptions& options) {
  PredictedStructure& predicted = prediction.predicted;
  const std::string path = Beside(query, rank, fs::path(query.out).extension().string().substr(1));
  const Tensor& errors = predicted.errors;
  if (options.errors && !errors.empty())
    WriteFile(Beside(query, rank, "pae.json"), WritePredictedErrors(errors.matrix<float>(), predicted.most_error));
  if (!options.plot.empty()) {
    ConfidenceImage image{.title = query.name, .plddt = predicted.plddt};
    if (!errors.empty()) {
      image.errors = errors.matrix<float>();
      image.most = predicted.most_error;
    }
    DrawConfidence(image, Beside(query, rank, options.plot));
  }
  if (options.embeddings) {
    const std::int64_t residues = predicted.single.rows();
    const Tensor pair = predicted.pair.ViewAs({residues, residues, predicted.pair.columns()});
    WriteSafetensors(Beside(query, rank, "safetensors"), {Stored("pair", pair), Stored("single", predicted.single)});
  }
  predicted.structure.name = query.name;
  const PredictionNote note = {.title = query.name,
                               .software = "headlight",
                               .version = HEADLIGHT_VERSION,
                               .mean_plddt = predicted.mean_plddt,
                               .ptm = predicted.ptm};
  WriteFile(path, path.ends_with(".pdb") ? WritePdb(predicted.structure) : WriteMmcif(predicted.structure, note));
}

std::string PredictionRow(const Query& query, std::size_t rank, const Prediction& prediction, bool json) {
  const PredictedStructure& predicted = prediction.predicted;
  const auto residues = static_cast<std::int64_t>(predicted.plddt.size());
  if (json) {
    Json ptm;
    if (predicted.ptm) ptm = *predicted.ptm;
    return Json(Json::Object{{"query", query.name},
                             {"rank", rank},
                             {"model", prediction.model},
                             {"seed", prediction.seed},
                             {"residues", residues},
                             {"passes", predicted.passes},
                             {"mean_plddt", predicted.mean_plddt},
                             {"ptm", std::move(ptm)}})
               .Line() +
           "\n";
  }
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{:.2f}\t{}\n", InRow(query.name), rank, InRow(prediction.model),
                     prediction.seed, residues, predicted.passes, predicted.mean_plddt,
                     predicted.ptm ? fmt::format("{:.4f}", *predicted.ptm) : "-");
}

// Checks the output files first, so that no input is overwritten and a long run does not fail at the end.
void CheckFiles(const std::vector<Query>& queries, const FoldCommandOptions& options) {
  std::vector<OutputFile> outputs;
  std::vector<std::string> inputs = options.models;
  if (!options.file.empty()) inputs.push_back(options.file);
  inputs.insert(inputs.end(), options.templates.begin(), options.templates.end());
  if (!options.template_alignment.empty()) inputs.push_back(options.template_alignment);
  const std::size_t most = options.all ? options.models.size() * static_cast<std::size_t>(options.num_seeds) : 1;
  for (const Query& query : queries) {
    if (!query.error.empty()) continue;
    inputs.insert(inputs.end(), query.alignments.begin(), query.alignments.end());
    if (query.alignments.empty() && !options.database.empty())
      outputs.push_back({"--database", Beside(query, 1, "a3m")});
    for (std::size_t rank = 1; rank <= most; ++rank) {
      outputs.push_back({"--out", Beside(query, rank, fs::path(query.out).extension().string().substr(1))});
      if (options.errors) outputs.push_back({"--pae", Beside(query, rank, "pae.json")});
      if (!options.plot.empty()) outputs.push_back({"--plot", Beside(query, rank, options.plot)});
      if (options.embeddings) outputs.push_back({"--embeddings", Beside(query, rank, "safetensors")});
    }
  }
  CheckOutputs(outputs, inputs);
  if (options.file.empty()) {
    for (const OutputFile& output : outputs) CheckWritable(output.path);
    return;
  }
  std::error_code error;
  fs::create_directories(options.out, error);
  Check(!error, "{}: cannot create the folder: {}", options.out, error.message());
}

}  // namespace

void FoldQueries(const FoldCommandOptions& options) {
  if (options.file.empty())
    Check(options.out.ends_with(".cif") || options.out.ends_with(".pdb"),
          "--out {}: a structure is written as .cif (mmCIF) or .pdb", options.out);
  for (const std::string& model : options.models) FamilyOf(OpenModelDescription(model), FoldingModel::kKind, nullptr);
  if (!options.database.empty()) CheckSearchDatabase(options.database);
  std::vector<Query> queries = QueriesOf(options);
  const bool many = !options.file.empty();
  if (many) {
    const Shard shard = ShardOfRun(options.shard);
    const auto first = queries.begin(), end = first + shard.end(std::ssize(queries));
    queries = {std::make_move_iterator(first + shard.begin(std::ssize(queries))), std::make_move_iterator(end)};
  }
  CheckFiles(queries, options);
  QueryFolder folder(options);
  std::int64_t failed = 0, found = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const Query& query = queries[i];
    std::string location = query.name;
    if (many)
      location = fmt::format("query {} of {}{}{}", i + 1, queries.size(), location.empty() ? "" : ", ", location);
    if (many && query.error.empty() && Exists(query.out)) {
      ++found;
      continue;
    }
    try {
      Check(query.error.empty(), "{}", query.error);
      std::vector<Prediction> predictions;
      {
        Progress progress(fmt::format("{}: blocks computed", location));
        predictions = folder.Predict(query, progress, location);
      }
      for (std::size_t rank = predictions.size(); rank >= 1; --rank)
        if (rank == 1 || options.all) Write(query, rank, predictions[rank - 1], options);
      for (std::size_t rank = 1; rank <= predictions.size(); ++rank)
        WriteResult(PredictionRow(query, rank, predictions[rank - 1], options.json));
      FlushResults();
    } catch (const Error& error) {
      if (!many || error.cause() != ErrorCause::user) throw;
      ++failed;
      WriteNote(fmt::format("{}: {}", location, error.what()));
    }
  }
  auto all = std::ssize(queries);
  if (many) {  // with mpirun, adds up the counts of all ranks and reports failures at the end
    all = SumOfShards(all);
    failed = SumOfShards(failed);
    found = SumOfShards(found);
    if (failed > 0) GatherResults();
  }
  if (found > 0) Note("{} of {} queries are skipped, which have structures in {}", found, all, options.out);
  Check(failed == 0, "{} of {} queries could not be folded", failed, all);
}

}  // namespace headlight
