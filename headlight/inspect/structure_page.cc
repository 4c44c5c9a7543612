#include "headlight/inspect/structure_page.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/inspect/page_data.h"

namespace headlight {
namespace {

void CheckRecord(const StructureRecord& record) {
  const std::size_t residues = record.chain.residues.size(), pairs = residues * residues;
  Check(residues > 0, "structure: the chain has no residues");
  std::size_t weights = 0;
  for (const ResidueAttention& map : record.attention) {
    Check(map.heads > 0 && map.weights.size() == static_cast<std::size_t>(map.heads) * pairs,
          "structure: {} of layer {} has {} weights for {} heads and {} residues", map.title, map.layer + 1,
          map.weights.size(), map.heads, residues);
    weights += map.weights.size();
  }
  Check(weights <= static_cast<std::size_t>(kMostWeights),
        "structure: {} weights of attention are too many for a page, which holds {}; choose one layer", weights,
        kMostWeights);
  for (const ResiduePairs* matrix : {&record.errors, &record.distances})
    Check(matrix->values.empty() || (matrix->values.size() == pairs && matrix->most > 0),
          "structure: a matrix of {} pairs for {} residues", matrix->values.size(), residues);
  for (const StructureMoment& moment : record.moments)
    Check(moment.backbone.size() == residues, "structure: {} has {} residues, and the chain {}", moment.name,
          moment.backbone.size(), residues);
}

// The cube of all places, within which coordinates are packed.
struct Range {
  double least = 0, most = 0;

  void Include(const Vector3& place) {
    for (const double coordinate : {place.x, place.y, place.z}) {
      Check(std::isfinite(coordinate), "structure: a coordinate is {}", coordinate);
      least = std::min(least, coordinate);
      most = std::max(most, coordinate);
    }
  }
};

void Append(const Vector3& place, std::vector<float>& numbers) {
  for (const double coordinate : {place.x, place.y, place.z}) numbers.push_back(static_cast<float>(coordinate));
}

Json Matrix(const ResiduePairs& pairs) {
  if (pairs.values.empty()) return {};
  return Json::Object{{"most", pairs.most}, {"values", PackNumbers(pairs.values, 0, pairs.most)}};
}

// The data that page/structure.js reads, where the fields are documented.
Json PageData(const StructureRecord& record) {
  const std::vector<Residue>& residues = record.chain.residues;
  const std::vector<BackboneAtoms> last = BackboneOf(record.chain);
  std::vector<StructureMoment> moments = record.moments;
  if (moments.empty()) moments.push_back({record.title, last});
  Range range;
  for (const StructureMoment& moment : moments)
    for (const BackboneAtoms& backbone : moment.backbone)
      for (const Vector3& place : backbone) range.Include(place);
  for (const Residue& residue : residues)
    for (std::size_t atom = 0; atom < kAtom37; ++atom)
      if (residue.known[atom]) range.Include(residue.atoms[atom]);
  const auto packed = [&](std::span<const float> numbers) {
    return PackNumbers(numbers, static_cast<float>(range.least), static_cast<float>(range.most + 1e-3));
  };

  Json::Array names, numbers, lddt, counts, packed_moments, attention;
  std::string elements, kinds;
  std::vector<float> atoms;
  for (const Residue& residue : residues) {
    names.push_back(residue.name);
    numbers.push_back(residue.number);
    lddt.push_back(std::round(10 * residue.b_factors[1]) / 10);
    int count = 0;
    for (std::size_t atom = 0; atom < kAtom37; ++atom)
      if (residue.known[atom]) {
        elements += AtomNames()[atom][0];
        Append(residue.atoms[atom], atoms);
        ++count;
      }
    counts.push_back(count);
  }
  const std::vector<int> breaks = BreaksOf(record.chain);
  for (const SecondaryStructure kind : SecondaryStructureOf(last, breaks)) kinds += static_cast<char>(kind);
  for (const StructureMoment& moment : moments) {
    std::vector<float> places;
    for (const BackboneAtoms& backbone : moment.backbone)
      for (const Vector3& place : backbone) Append(place, places);
    packed_moments.push_back(Json::Object{{"name", moment.name}, {"backbone", packed(places)}});
  }
  for (const ResidueAttention& map : record.attention) {
    Json::Array heads;
    const std::size_t head = residues.size() * residues.size();
    for (std::size_t at = 0; at < map.weights.size(); at += head)
      heads.push_back(PackWeights(std::span(map.weights).subspan(at, head)));
    attention.push_back(Json::Object{
        {"title", map.title}, {"layer", map.layer + 1}, {"heads", map.heads}, {"weights", std::move(heads)}});
  }
  return Json::Object{{"letters", record.chain.Letters()},
                      {"names", std::move(names)},
                      {"numbers", std::move(numbers)},
                      {"lddt", record.predicted ? Json(std::move(lddt)) : Json()},
                      {"kinds", std::move(kinds)},
                      {"breaks", breaks},
                      {"least", range.least},
                      {"most", range.most + 1e-3},
                      {"moments", std::move(packed_moments)},
                      {"counts", std::move(counts)},
                      {"elements", std::move(elements)},
                      {"atoms", packed(atoms)},
                      {"errors", Matrix(record.errors)},
                      {"distances", Matrix(record.distances)},
                      {"attention", std::move(attention)},
                      {"ramps", Ramps()}};
}

}  // namespace

std::vector<BackboneAtoms> BackboneOf(const ProteinChain& chain) {
  std::vector<BackboneAtoms> backbone;
  for (const Residue& residue : chain.residues) {
    BackboneAtoms atoms;
    for (std::size_t i = 0; const std::string_view name : {"N", "CA", "C", "O"}) {
      const auto atom = static_cast<std::size_t>(Atom37Of(name).value());
      Check(residue.known[atom], "structure: {} {} has no atom {}", residue.name, residue.number, name);
      atoms[i++] = residue.atoms[atom];
    }
    backbone.push_back(atoms);
  }
  return backbone;
}

std::string StructurePage(const StructureRecord& record) {
  CheckRecord(record);
  return FillPage("structure.html", record.title.empty() ? "Structure" : record.title, PageData(record));
}

}  // namespace headlight
