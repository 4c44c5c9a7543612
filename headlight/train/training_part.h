// A micro-batch of a training step.
#pragma once

#include <any>
#include <functional>
#include <type_traits>
#include <utility>

namespace headlight {

/// The payload of a micro-batch. The task defines its type. A payload that takes time to make, such as decoded and
/// augmented images, can be made later. Making it must be thread-safe and deterministic.
class TrainingPart {
 public:
  TrainingPart() = default;
  template <typename T>
  requires(!std::is_same_v<T, TrainingPart>) explicit TrainingPart(T value) : value_(std::move(value)) {}
  /// Returns a part that make() will create.
  template <typename Make>
  static TrainingPart Later(Make make) {
    TrainingPart part;
    part.make_ = [make = std::move(make)] { return std::any(make()); };
    return part;
  }

  bool made() const { return make_ == nullptr; }
  void MakeNow() {
    if (made()) return;
    value_ = make_();
    make_ = nullptr;
  }
  template <typename T>
  const T& As() const {  // the part must have been made
    return std::any_cast<const T&>(value_);
  }

 private:
  std::any value_;
  std::function<std::any()> make_;
};

/// Returns the part, after making it if necessary.
inline TrainingPart Made(TrainingPart part) {
  part.MakeNow();
  return part;
}

}  // namespace headlight
