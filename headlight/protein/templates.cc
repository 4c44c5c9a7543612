#include "headlight/protein/templates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <type_traits>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/protein/residues.h"
#include "headlight/protein/sequence_alignment.h"

namespace headlight {
namespace {

constexpr std::size_t kTorsions = 7, kPsi = 2, kFirstChiTorsion = 3;

ProteinTemplate BestOf(const Structure& structure, const std::string& path, std::span<const std::uint8_t> query) {
  Check(!structure.chains.empty(), "{}: there is no protein chain", path);
  const ProteinChain* best = nullptr;
  LocalAlignment alignment;
  for (const ProteinChain& chain : structure.chains) {
    LocalAlignment its = AlignLocally(query, chain.Types());
    if (best != nullptr && its.score <= alignment.score) continue;
    best = &chain;
    alignment = std::move(its);
  }
  return TemplateOf(fmt::format("{}, chain {}", path, best->name), *best, alignment.partners);
}

// Finds the row's letters in the chain. Returns the residue of the chain for each column, or -1 for a gap. Returns
// nullopt if the letters are not a part of the chain.
std::optional<std::vector<std::int32_t>> PlacesOf(const AlignmentRow& row, std::span<const std::uint8_t> chain) {
  std::vector<std::pair<std::size_t, std::int32_t>> letters;  // the column of each letter and its index in the row
  std::int64_t index = 0;
  for (std::size_t column = 0; column < row.residues.size(); ++column) {
    index += row.deletions[column];
    if (row.residues[column] != kGap) letters.emplace_back(column, static_cast<std::int32_t>(index++));
  }
  for (std::int64_t start = 0; start + index <= std::ssize(chain); ++start) {
    const auto fits = [&](const auto& letter) {
      const std::uint8_t own = row.residues[letter.first],
                         other = chain[static_cast<std::size_t>(start + letter.second)];
      return own == other || own == kUnknownResidue || other == kUnknownResidue;
    };
    if (!std::all_of(letters.begin(), letters.end(), fits)) continue;
    std::vector<std::int32_t> places(row.residues.size(), -1);
    for (const auto& [column, its] : letters) places[column] = static_cast<std::int32_t>(start) + its;
    return places;
  }
  return std::nullopt;
}

// Returns a file's name without extensions, such as 1abc for 1abc.cif.gz.
std::string StemOf(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

std::vector<ProteinTemplate> OfRows(const std::vector<std::string>& paths, const std::string& alignment,
                                    std::span<const std::uint8_t> query, const StructureReader& read) {
  struct File {
    std::string path, stem;
    Structure structure;
    bool named = false;
  };
  std::vector<File> files;
  for (const std::string& path : paths) {
    files.push_back({path, StemOf(path), read(path)});
    for (std::size_t other = 0; other + 1 < files.size(); ++other)
      Check(files[other].stem != files.back().stem, "{} and {}: rows of an alignment would call both {}",
            files[other].path, path, files.back().stem);
  }
  AlignmentReader rows(alignment);
  const std::optional<AlignmentRow> first = rows.Next();
  Check(first && std::ranges::equal(first->residues, query),
        "{}: its first row must be the query, which has {} residues, but it is another sequence with {}", alignment,
        query.size(), rows.columns());
  std::vector<ProteinTemplate> templates;
  while (const std::optional<AlignmentRow> row = rows.Next()) {
    const std::string name = row->name.substr(0, row->name.find_first_of(" \t"));
    File* file = nullptr;
    for (File& one : files) {
      const bool fits = name == one.stem || (name.starts_with(one.stem) && name[one.stem.size()] == '_');
      if (fits && (file == nullptr || one.stem.size() > file->stem.size())) file = &one;
    }
    Check(file != nullptr, "{}: row {}: no structure has this name; STEM_CHAIN names a chain of STEM.cif", alignment,
          Quoted(name));
    file->named = true;
    const ProteinChain& chain =
        ChainOf(file->structure,
                name == file->stem ? std::string_view() : std::string_view(name).substr(file->stem.size() + 1));
    const auto places = PlacesOf(*row, chain.Types());
    Check(places.has_value(), "{}: row {}: its letters are not a part of the sequence of {}, chain {}", alignment,
          Quoted(name), file->path, chain.name);
    templates.push_back(TemplateOf(fmt::format("{}, chain {}", file->path, chain.name), chain, *places));
  }
  for (const File& file : files) Check(file.named, "{}: no row names {}", alignment, file.path);
  return templates;
}

Vector3 UnitOrLess(const Vector3& x) { return (1 / std::sqrt(Dot(x, x) + 1e-8)) * x; }

// Returns the sine and cosine of the torsion. Both values are approximately 0 if atoms coincide.
std::array<double, 2> TorsionOf(const std::array<Vector3, 4>& atoms) {
  const Vector3 ex = UnitOrLess(atoms[2] - atoms[1]), near_y = atoms[0] - atoms[2];
  const Vector3 ey = UnitOrLess(near_y - Dot(near_y, ex) * ex), last = atoms[3] - atoms[2];
  const double sine = Dot(Cross(ex, ey), last), cosine = Dot(ey, last);
  const double length = std::sqrt(sine * sine + cosine * cosine + 1e-8);
  return {sine / length, cosine / length};
}

// The four atoms (atom37) of a torsion. The first `before` atoms belong to the previous residue.
struct TorsionAtoms {
  std::array<std::size_t, 4> atoms;
  std::size_t before = 0;
};

std::optional<TorsionAtoms> AtomsOf(std::size_t torsion, std::size_t type) {
  constexpr std::array<TorsionAtoms, kFirstChiTorsion> kBackbone = {{{{kAtomCa, kAtomC, kAtomN, kAtomCa}, 2},
                                                                     {{kAtomC, kAtomN, kAtomCa, kAtomC}, 1},
                                                                     {{kAtomN, kAtomCa, kAtomC, kAtomO}, 0}}};
  if (torsion < kFirstChiTorsion) return kBackbone[torsion];
  const ResidueTables& tables = TablesOfResidues();
  if (type >= kResidueTypes || !tables.has_chi[type][torsion - kFirstChiTorsion]) return std::nullopt;
  TorsionAtoms chi;
  std::ranges::copy(tables.chi_atoms[type][torsion - kFirstChiTorsion], chi.atoms.begin());
  return chi;
}

// Fills a residue's row of TemplateFeatures::angles.
void FillAngles(const Residue& before, const Residue& residue, float* row) {
  const auto type = static_cast<std::size_t>(residue.type);
  row[type] = 1;
  float *const torsions = row + kAlignmentLetters, *const others = torsions + 2 * kTorsions,
               *const known = others + 2 * kTorsions;
  for (std::size_t torsion = 0; torsion < kTorsions; ++torsion) {
    const std::optional<TorsionAtoms> of = AtomsOf(torsion, type);
    if (!of) continue;
    std::array<Vector3, 4> atoms;
    known[torsion] = 1;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      const Residue& from = i < of->before ? before : residue;
      if (from.known[of->atoms[i]])
        atoms[i] = from.atoms[of->atoms[i]];
      else
        known[torsion] = 0;
    }
    // psi is defined by the next residue's N, which is opposite O.
    const double sign = torsion == kPsi ? -1 : 1;
    const bool ambiguous =
        torsion >= kFirstChiTorsion && TablesOfResidues().group_ambiguous[type][torsion + kRigidGroups - kTorsions];
    const std::array<double, 2> parts = TorsionOf(atoms);
    for (std::size_t part = 0; part < 2; ++part) {
      torsions[2 * torsion + part] = static_cast<float>(sign * parts[part]);
      others[2 * torsion + part] = (ambiguous ? -1.0F : 1.0F) * torsions[2 * torsion + part];
    }
  }
}

bool HasBackbone(const Residue& residue) {
  return residue.known[kAtomN] && residue.known[kAtomCa] && residue.known[kAtomC];
}

}  // namespace

std::int64_t ProteinTemplate::aligned() const {
  return std::count_if(residues.begin(), residues.end(), [](const Residue& one) { return one.type != kGap; });
}

ProteinTemplate TemplateOf(std::string name, const ProteinChain& chain, std::span<const std::int32_t> places) {
  ProteinTemplate made{std::move(name), {}};
  const Residue gap = {.type = kGap};
  for (const std::int32_t index : places) {
    Check(index >= -1 && index < std::ssize(chain.residues), "{}: aligned to residue {} of {}", made.name, index + 1,
          chain.residues.size());
    made.residues.push_back(index < 0 ? gap : chain.residues[static_cast<std::size_t>(index)]);
  }
  Check(std::any_of(made.residues.begin(), made.residues.end(), HasBackbone),
        "{0}: none of the {1} residues aligned to the query has a known N, CA and C", made.name, made.aligned());
  return made;
}

std::vector<ProteinTemplate> ReadTemplates(const std::vector<std::string>& structures, const std::string& alignment,
                                           std::span<const std::uint8_t> query, const StructureReader& read) {
  if (!alignment.empty()) return OfRows(structures, alignment, query, read);
  std::vector<ProteinTemplate> templates;
  for (const std::string& path : structures) templates.push_back(BestOf(read(path), path, query));
  return templates;
}

TemplateFeatures FeaturesOf(const ProteinTemplate& one) {
  const std::int64_t residues = std::ssize(one.residues);
  const int glycine = *ResidueOfLetter('G');
  const Residue nothing = {.type = kGap};
  TemplateFeatures features{.types = {},
                            .beta = Tensor::Zeros({residues, 3}),
                            .beta_known = {},
                            .backbone_known = {},
                            .angles = Tensor::Zeros({residues, kTemplateAngles})};
  for (std::int64_t i = 0; i < residues; ++i) {
    const Residue& residue = one.residues[static_cast<std::size_t>(i)];
    features.types.push_back(residue.type);
    const std::size_t beta = residue.type == glycine ? kAtomCa : kAtomCb;
    features.beta_known.push_back(residue.known[beta] ? 1 : 0);
    features.backbone_known.push_back(HasBackbone(residue) ? 1 : 0);
    if (residue.known[beta]) {
      const Vector3& at = residue.atoms[beta];
      std::ranges::transform(std::array{at.x, at.y, at.z}, features.beta.matrix<float>().row(i),
                             [](double axis) { return static_cast<float>(axis); });
    }
    FillAngles(i == 0 ? nothing : one.residues[static_cast<std::size_t>(i) - 1], residue,
               features.angles.matrix<float>().row(i));
  }
  return features;
}

TemplateFeatures CropOf(const TemplateFeatures& features, std::int64_t first, std::int64_t count) {
  Check(first >= 0 && count >= 1 && first <= std::ssize(features.types) - count,
        "residues {} to {} of a template with {}", first + 1, first + count, features.types.size());
  const auto part = [&](const auto& whole) {
    return std::decay_t<decltype(whole)>(whole.begin() + first, whole.begin() + first + count);
  };
  return {part(features.types), features.beta.ViewRows(first, count).Clone(), part(features.beta_known),
          part(features.backbone_known), features.angles.ViewRows(first, count).Clone()};
}

}  // namespace headlight
