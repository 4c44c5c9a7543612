// Helpers shared by the tests of protein/.
#pragma once

#include <cmath>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/protein/secondary_structure.h"
#include "headlight/protein/vector3.h"

namespace headlight {

// Writes the text to `path`, and returns the path.
inline std::string WriteText(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

// Returns the position of an atom given three previous atoms. `distance` to c is in angstrom. `angle` with b and
// `torsion` are in degrees.
inline Vector3 PlaceAtom(const Vector3& a, const Vector3& b, const Vector3& c, double distance, double angle,
                         double torsion) {
  constexpr double degree = 3.14159265358979323846 / 180;
  const Vector3 back = Unit(b - c), normal = Unit(Cross(b - a, c - b)), across = Cross(normal, back);
  const double sine = std::sin(angle * degree);
  return c + distance * (std::cos(angle * degree) * back - sine * std::cos(torsion * degree) * across +
                         sine * std::sin(torsion * degree) * normal);
}

// Returns a backbone with ideal peptide bonds. All residues have the same torsions phi and psi, in degrees.
inline std::vector<BackboneAtoms> MadeBackbone(int residues, double phi, double psi) {
  std::vector<BackboneAtoms> backbone;
  Vector3 n = {0, 0, 0}, ca = {1.458, 0, 0}, c = {2.009, 1.42, 0};
  for (int i = 0; i < residues; ++i) {
    const Vector3 next_n = PlaceAtom(n, ca, c, 1.329, 116.2, psi);
    backbone.push_back({n, ca, c, PlaceAtom(n, ca, c, 1.231, 120.5, psi + 180)});
    const Vector3 next_ca = PlaceAtom(ca, c, next_n, 1.458, 121.7, 180);
    c = PlaceAtom(c, next_n, next_ca, 1.525, 111.2, phi);
    n = next_n;
    ca = next_ca;
  }
  return backbone;
}

}  // namespace headlight
