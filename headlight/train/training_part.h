// A part of a step of training.
#pragma once

#include <any>
#include <functional>
#include <type_traits>
#include <utility>

namespace headlight {

/// What goes through the model at a time, of a type that its task knows. One that takes time to make, as images do that
/// are decoded and augmented, may be made later: on any thread, the same each time.
class TrainingPart {
 public:
  TrainingPart() = default;
  template <typename T>
  requires(!std::is_same_v<T, TrainingPart>) explicit TrainingPart(T value) : value_(std::move(value)) {}
  /// A part that is the result of make().
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
  const T& As() const {  // of a part that is made
    return std::any_cast<const T&>(value_);
  }

 private:
  std::any value_;
  std::function<std::any()> make_;
};

/// The part, made.
inline TrainingPart Made(TrainingPart part) {
  part.MakeNow();
  return part;
}

}  // namespace headlight
