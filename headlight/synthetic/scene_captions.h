// Captions of drawn scenes from a grammar, in German and English; and the reverse: what a caption states, checked
// against a scene.
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

// "a star", or "a star above a ring".
struct SceneStatement {
  SceneMention subject;
  std::optional<SceneRelation> relation = {};
  SceneMention object = {};  // where there is a relation
  bool operator==(const SceneStatement&) const = default;
};
using SceneCaption = std::vector<SceneStatement>;

std::string Say(const SceneCaption& caption, SceneLanguage language);

// The reverse, in small letters or capitals and with any inflection. Throws Error that quotes the caption and names the
// word where it is none.
SceneCaption ParseCaption(std::string_view text, SceneLanguage language);

// True if every attribute that the mention names is the shape's.
bool Fits(const SceneMention& mention, const SceneShape& shape);
// True if shape `a` of the scene stands in the relation to shape `b`: left and right compare columns, above and below
// rows, larger the named sizes; in front of and behind, which shape hides a part of the other.
bool Holds(SceneRelation relation, const SceneContent& scene, std::size_t a, std::size_t b);

// True if all statements of a caption are true of the scene, each of distinct shapes: "a circle and a circle" requires
// two. "Two circles" requires exactly two.
bool IsTrue(const SceneCaption& caption, const SceneContent& scene);

// Every shape with its size, colour, kind and place, by place: no two contents have the same, but for what hides what.
SceneCaption FullCaption(const SceneContent& scene);
// A true caption: some or all shapes with some of their attributes, counts, or a relation.
SceneCaption RandomCaption(Random& random, const SceneContent& scene);
// A caption with one attribute, number or relation changed so that it is false. Throws Error where the caption is false
// already.
SceneCaption NearMiss(Random& random, const SceneCaption& caption, const SceneContent& scene);

}  // namespace headlight
