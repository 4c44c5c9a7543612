// Generates captions of synthetic scenes from a grammar, in German and English. Parses captions and checks them against
// a scene. Examples:
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

/// A statement about a scene, such as "a star" or "a star above a ring".
struct SceneStatement {
  SceneMention subject;
  std::optional<SceneRelation> relation = {};
  SceneMention object = {};  // used only with a relation
  bool operator==(const SceneStatement&) const = default;
};
using SceneCaption = std::vector<SceneStatement>;

std::string Say(const SceneCaption& caption, SceneLanguage language);

/// Parses a caption, ignoring case and inflection. Throws Error if the text is not a caption. The message quotes the
/// text and names the unexpected word.
SceneCaption ParseCaption(std::string_view text, SceneLanguage language);

/// Returns true if the shape has all attributes that the mention names.
bool Fits(const SceneMention& mention, const SceneShape& shape);
/// Returns true if shape `a` of the scene has the relation to shape `b`. Left and right compare columns, above and
/// below compare rows, and larger and smaller compare the named sizes. In front of and behind depend on which shape
/// hides a part of the other.
bool Holds(SceneRelation relation, const SceneContent& scene, std::size_t a, std::size_t b);

/// Returns true if all statements of a caption are true of distinct shapes in the scene. "A circle and a circle"
/// requires at least two circles. "Two circles" requires exactly two.
bool IsTrue(const SceneCaption& caption, const SceneContent& scene);

/// Returns the caption that lists every shape with its size, color, kind and position, sorted by position. Contents
/// that differ in any of these have distinct captions. The caption does not describe which shapes are hidden.
SceneCaption FullCaption(const SceneContent& scene);
/// Returns a true caption: some or all shapes with some of their attributes, counts, or a relation.
SceneCaption RandomCaption(Random& random, const SceneContent& scene);
/// Returns a hard negative: a caption with one attribute, number or relation changed so that it is false. Throws Error
/// if `caption` is already false.
SceneCaption HardNegative(Random& random, const SceneCaption& caption, const SceneContent& scene);

}  // namespace headlight
