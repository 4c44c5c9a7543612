#include "headlight/inspect/structure_page.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/inspect/page_data.h"
#include "headlight/inspect/ribbon.h"

namespace headlight {
namespace {

// The cube that contains all positions. Coordinates are encoded relative to it.
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

constexpr std::size_t kAlpha = 1;  // index among BackboneAtoms
constexpr int kSteps = 6;          // segments of the ribbon between two residues

// Returns the data for page/space.js, which documents the fields.
Json PageData(const StructureRecord& record) {
  const std::vector<Residue>& residues = record.chain.residues;
  const std::vector<BackboneAtoms> last = BackboneOf(record.chain);
  std::vector<StructureMoment> moments = record.moments;
  if (moments.empty()) moments.push_back({record.title, last});
  const std::vector<int> breaks = BreaksOf(record.chain);
  const std::vector<SecondaryStructure> kinds = SecondaryStructureOf(last, breaks);
  std::vector<Ribbon> ribbons;
  for (const StructureMoment& moment : moments) ribbons.push_back(RibbonOf(moment.backbone, kinds, breaks, kSteps));
  Range range;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    for (const BackboneAtoms& backbone : moments[i].backbone) range.Include(backbone[kAlpha]);
    for (const auto& [left, right] : ribbons[i].edges) {
      range.Include(left);
      range.Include(right);
    }
  }
  for (const Residue& residue : residues)
    for (std::size_t atom = 0; atom < kAtom37; ++atom)
      if (residue.known[atom]) range.Include(residue.atoms[atom]);
  const auto packed = [&](std::span<const float> numbers) {
    return PackNumbers(numbers, static_cast<float>(range.least), static_cast<float>(range.most + 1e-3));
  };

  Json::Array names, numbers, lddt, counts, packed_moments, attention;
  std::string elements;
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
  for (std::size_t i = 0; i < moments.size(); ++i) {
    std::vector<float> alphas, edges;
    for (const BackboneAtoms& backbone : moments[i].backbone) Append(backbone[kAlpha], alphas);
    for (const auto& [left, right] : ribbons[i].edges) {
      Append(left, edges);
      Append(right, edges);
    }
    packed_moments.push_back(
        Json::Object{{"name", moments[i].name}, {"alphas", packed(alphas)}, {"ribbon", packed(edges)}});
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
                      {"breaks", breaks},
                      {"steps", kSteps},
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

std::string StructurePage(const StructureRecord& record) {
  CheckStructure(record);
  return FillPage("structure.html", record.title.empty() ? "Structure" : record.title, PageData(record));
}

}  // namespace headlight
