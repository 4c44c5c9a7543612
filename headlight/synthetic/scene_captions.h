// Captions of synthetic scenes from a grammar, in German and English; and the inverse: parsing a caption, and checking
// it against a scene.
//
//   a large red circle at the top left, two stars and a blue ring
//   ein kleines grünes Quadrat links von einem roten Kreis
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/synthetic/scene_words.h"
#include "headlight/synthetic/shape_scenes.h"

namespace headlight {

/// "a star", or "a star above a ring".
struct SceneStatement {
  SceneMention subject;
  std::optional<SceneRelation> relation = {};
  SceneMention object = {};  // if there is a relation
  bool operator==(const SceneStatement&) const = default;
};
using SceneCaption = std::vector<SceneStatement>;

std::string Say(const SceneCaption& caption, SceneLanguage language);

/// The inverse, ignoring case and inflection. Throws Error that quotes the caption and names the word if it is not a
/// caption.
SceneCaption ParseCaption(std::string_view text, SceneLanguage language);

/// True if the shape has all attributes that the mention names.
bool Fits(const SceneMention& mention, const SceneShape& shape);
/// True if shape `a` of the scene has the relation to shape `b`. Left and right compare columns, above and below rows,
/// larger and smaller the named sizes; in front of and behind, which shape hides a part of the other.
bool Holds(SceneRelation relation, const SceneContent& scene, std::size_t a, std::size_t b);

/// True if all statements of a caption are true of the scene for distinct shapes: "a circle and a circle" requires two.
/// "Two circles" requires exactly two.
bool IsTrue(const SceneCaption& caption, const SceneContent& scene);

/// Every shape with its size, colour, kind and place, sorted by place. Distinct contents have distinct captions, except
/// for which shape hides which.
SceneCaption FullCaption(const SceneContent& scene);
/// A true caption: some or all shapes with some of their attributes, counts, or a relation.
SceneCaption RandomCaption(Random& random, const SceneContent& scene);
/// A hard negative: a caption with one attribute, number or relation changed so that it is false. Throws Error if the
/// caption is already false.
SceneCaption HardNegative(Random& random, const SceneCaption& caption, const SceneContent& scene);

}  // namespace headlight
