#include "headlight/data/protein_chains.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/parallel.h"
#include "headlight/data/images.h"
#include "headlight/data/lines.h"
#include "headlight/protein/alignment.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCa = 1;  // index in atom14
constexpr std::int64_t kFewest = 3;

bool IsStructure(const fs::path& path) {
  std::string name = path.filename().string();
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  constexpr std::array<std::string_view, 4> endings = {".pdb", ".ent", ".cif", ".mmcif"};
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

std::vector<std::string> StructuresIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error) && IsStructure(entry->path())) files.push_back(entry->path().string());
  Check(!error, "{}: cannot read the folder: {}", folder, error.message());
  std::sort(files.begin(), files.end());
  Check(!files.empty(), "{}: there is no structure (.pdb, .ent, .cif, .mmcif) in this folder", folder);
  return files;
}

ChainExample ExampleOf(const std::string& path, const ProteinChain& chain) {
  return {.name = fmt::format("{}, chain {}", path, chain.name), .residues = LabelsOf(chain), .alignment = {}};
}

bool Resolved(const ChainExample& example) {
  return std::count_if(example.residues.begin(), example.residues.end(),
                       [](const ResidueLabels& residue) { return residue.known[kCa]; }) >= kFewest;
}

// Adds all chains of structures. Chains with equal sequences in a structure are added once.
void AddStructures(const std::vector<std::string>& paths, const StructureReader& read, ChainSet& set) {
  std::vector<std::vector<ChainExample>> examples(paths.size());
  ParallelFor(std::ssize(paths), [&](std::int64_t i) {
    const std::string& path = paths[static_cast<std::size_t>(i)];
    for (const ProteinChain& chain : read(path).chains)
      examples[static_cast<std::size_t>(i)].push_back(ExampleOf(path, chain));
  });
  for (std::vector<ChainExample>& of_structure : examples) {
    std::set<std::string> sequences;
    for (ChainExample& example : of_structure) {
      if (!Resolved(example))
        ++set.unresolved;
      else if (!sequences.insert(example.Letters()).second)
        ++set.repeated;
      else
        set.examples.push_back(std::move(example));
    }
  }
}

void AddIndex(const std::string& path, const StructureReader& read, ChainSet& set) {
  struct Line {
    std::string location, structure, chain, alignment;
    std::vector<std::string> templates;
  };
  std::vector<Line> index;
  LineReader lines(path);
  while (const auto line = lines.Next()) {
    if (line->empty()) continue;
    const std::string location = fmt::format("{}:{}", path, lines.line_number());
    const std::vector<std::string> fields = ColumnsOf(*line);
    Check(fields.size() >= 2 && fields.size() <= 4 && !fields[0].empty(),
          "{}: expected a structure, a tab and a chain, and optionally an alignment and templates, not {} columns",
          location, fields.size());
    const auto file = [&](const std::string& name) {
      const std::string its = (fs::path(path).parent_path() / name).string();
      std::error_code ignored;  // for names that are not valid file names
      Check(fs::is_regular_file(its, ignored), "{}: there is no file {}", location, its);
      return its;
    };
    index.push_back({.location = location,
                     .structure = file(fields[0]),
                     .chain = fields[1],
                     .alignment = fields.size() >= 3 && !fields[2].empty() ? file(fields[2]) : "",
                     .templates = {}});
    std::istringstream names(fields.size() == 4 ? fields[3] : "");
    for (std::string name; std::getline(names, name, ';');) index.back().templates.push_back(file(name));
  }
  Check(!index.empty(), "{}: there is no line in it", path);
  std::vector<ChainExample> examples(index.size());
  ParallelFor(std::ssize(index), [&](std::int64_t i) {
    const auto& [location, structure, chain, alignment, templates] = index[static_cast<std::size_t>(i)];
    try {
      ChainExample example = ExampleOf(structure, ChainOf(read(structure), chain));
      Check(Resolved(example), "{}: fewer than {} C alpha atoms are known", example.name, kFewest);
      if (!alignment.empty()) {
        AlignmentReader(alignment, {.query = example.Letters()}).Next();
        example.alignment = alignment;
      }
      for (const ProteinTemplate& one : ReadTemplates(templates, "", ResiduesOf(example.Letters()), read))
        example.templates.push_back(FeaturesOf(one));
      examples[static_cast<std::size_t>(i)] = std::move(example);
    } catch (const Error& error) {
      Fail("{}: {}", location, error.what());
    }
  });
  std::move(examples.begin(), examples.end(), std::back_inserter(set.examples));
}

}  // namespace

std::string ChainExample::Letters() const {
  std::string letters;
  for (const ResidueLabels& residue : residues)
    letters += ResidueTypes()[static_cast<std::size_t>(residue.type)].letter;
  return letters;
}

ChainSet ReadChainSet(const std::vector<std::string>& paths, const StructureReader& read) {
  ChainSet set;
  for (const std::string& path : paths) {
    std::error_code ignored;
    Check(fs::exists(path, ignored), "{}: there is no such file or folder", path);
    if (fs::is_directory(path, ignored))
      AddStructures(StructuresIn(path), read, set);
    else if (IsTsv(path))
      AddIndex(path, read, set);
    else
      AddStructures({path}, read, set);
  }
  Check(!set.examples.empty(), "{}: there is no chain with {} known C alpha atoms", fmt::join(paths, ", "), kFewest);
  for (const ChainExample& example : set.examples)
    Check(example.residues.size() <= kMostResidues, "{}: it has {} residues, but at most {} are allowed", example.name,
          example.residues.size(), kMostResidues);
  return set;
}

std::uint64_t HashOfChainSet(const ChainSet& set) {
  Hash64 hash;
  for (const ChainExample& example : set.examples) {
    hash.Update(example.Letters() + "\n" + fs::path(example.alignment).filename().string() + "\n");
    for (const ResidueLabels& residue : example.residues)
      hash.Update({reinterpret_cast<const char*>(residue.atoms.data()), sizeof(residue.atoms)});
    for (const TemplateFeatures& one : example.templates)
      for (const Tensor& x : {one.beta, one.angles})
        hash.Update(
            {reinterpret_cast<const char*>(x.data<float>()), static_cast<std::size_t>(x.elements()) * sizeof(float)});
  }
  return hash.value();
}

}  // namespace headlight
