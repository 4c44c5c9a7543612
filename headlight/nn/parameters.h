// The weights of a model. The module that uses a weight declares it once, through a Scope. The scope gives the weight
// its name in published checkpoints. Weights are initialized, loaded and saved by name.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/kernels/gemm.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The distribution of a parameter's initial values.
struct Initialization {
  enum class Kind { constant, normal, xavier_uniform, waves } kind = Kind::constant;
  double value = 0;                    ///< the constant, or the standard deviation
  std::int64_t height = 0, width = 0;  ///< the grid of `waves`

  static Initialization Constant(double value) { return {Kind::constant, value}; }
  static Initialization Normal(double deviation) { return {Kind::normal, deviation}; }
  /// Returns a uniform distribution between +-sqrt(6 / (inputs + outputs)) (Glorot and Bengio, 2010, eq. 16).
  static Initialization XavierUniform() { return {Kind::xavier_uniform, 0}; }
  /// Returns sinusoidal positions of a grid for the last height * width rows. They are the sines and cosines of the row
  /// and column indices, minus their mean. Each takes a quarter of the features. The wavelengths are as in the
  /// Transformer (Beyer, Zhai and Kolesnikov, "Better plain ViT baselines for ImageNet-1k", 2022). Earlier rows are
  /// normally distributed with a standard deviation of 0.02.
  static Initialization Waves(std::int64_t height, std::int64_t width, double deviation) {
    return {Kind::waves, deviation, height, width};
  }
};

struct Parameter;

/// The scale of a batch norm that follows a product. Output o is multiplied by gain[o] / sqrt(variance[o] + epsilon).
struct FoldedNorm {
  const Parameter* gain = nullptr;  ///< null if there is no norm
  const Parameter* variance = nullptr;
  double epsilon = 0;
};

/// A weight of a model, with its names on disk, its role and its values.
struct Parameter {
  std::vector<std::string> names;  ///< names of its tensors on disk; several tensors are concatenated in memory
  Shape shape;
  Initialization initialization;

  /// How the parameter is stored on disk.
  struct Storage {
    std::vector<std::int64_t> parts = {};  ///< number of rows of each tensor in `names`; default: equal parts
    bool transposed = false;               ///< if true, the matrix on disk is [inputs, outputs]
    bool channels_last = false;            ///< if true, inputs are the last axis in memory and the second axis on disk
    bool saved = true;  ///< false if only training uses it and the model's folder does not contain it
  } storage;

  /// How the model uses the parameter, and how it is trained.
  struct Role {
    bool trained = true;       ///< false if it has no gradient
    bool statistic = false;    ///< if true, it is a running average that training passes update, as in batch norm
    bool in_products = false;  ///< if true, it is the weight of a matrix product
    bool looked_up = false;    ///< if true, it is an embedding table
    bool winograd = false;     ///< if true, PackedForWinograd packs it in float32 (kernels/winograd.h)
    bool exact = false;        ///< if true, its products are in float32 for any compute type
    FoldedNorm folded = {};    ///< multiplies the packed form, but not `value`
  } role;

  Tensor value;                         ///< empty if only the packed form is kept
  Tensor gradient;                      ///< empty until Parameters::PrepareTraining
  Compute compute = Compute::float32;   ///< compute type of its matrix products
  kernels::PackedMatrix<float> packed;  ///< packed form for products; empty if not packed
  kernels::PackedMatrix<float> draft;   ///< an int8 copy, for draft tokens

  /// Return the number of rows of the tensor names[index] along the first axis, and the index of its first row.
  std::int64_t PartRows(std::size_t index) const;
  std::int64_t FirstRow(std::size_t index) const;
  /// Returns the factors of `folded` per output, or an empty vector if there is no norm.
  std::vector<float> Factors() const;
  /// Packs the values, multiplied by the factors, for products of compute type `type`.
  void Pack(Compute type);
  /// Returns the shape of the weight as a matrix [outputs, inputs], with all axes after the first as inputs. For
  /// example, a convolution's weight has the axes [outputs, height, width, inputs].
  Shape matrix_shape() const { return {shape[0], shape[0] == 0 ? 0 : shape.elements() / shape[0]}; }
};

/// Returns true if the parameter's name matches the shell pattern (fnmatch: *, ?, [...]). Throws Error if only some of
/// the names that share one matrix match.
HEADLIGHT_API bool Matches(const Parameter& parameter, const std::string& pattern);

/// The parameters of one model in the order of declaration, in contiguous memory.
class HEADLIGHT_API Parameters {
 public:
  explicit Parameters(DType dtype = DType::float32) : dtype_(dtype) {}
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Declares a parameter. The reference remains valid. Throws Error if a name is already declared. After Allocate,
  /// more parameters may be declared, followed by Initialize or InitializeNew.
  Parameter& Declare(std::vector<std::string> names, const Shape& shape, Initialization initialization);

  /// Allocates memory for every parameter without initializing it. Existing values are kept.
  void Allocate();
  /// Allocates and initializes every parameter. The values of a parameter depend only on the seed and its name.
  void Initialize(std::uint64_t seed);
  /// Allocates and initializes only the parameters that have no values yet.
  void InitializeNew(std::uint64_t seed);

  /// Excludes the parameters that match `pattern` from training. They keep their values and have no gradient. Throws
  /// Error if none matches.
  void Freeze(const std::string& pattern);

  /// Allocates zero gradients for all trained parameters. Deletes packed forms, because values will change.
  void PrepareTraining();

  /// Packs the weights of products for decoding, which computes many products with few rows. Values must not change
  /// until Unpack.
  void Pack();
  void Unpack();

  /// Returns true if any weight matrix also has an int8 copy (LoadFor::computing_with_draft).
  bool have_draft() const;

  /// Keeps parameters with this prefix in float32, both in products and in files.
  void KeepExact(std::string_view prefix);

  /// Sets the type to which the operands of all matrix products except exact ones are rounded. Values and gradients
  /// keep their type. Throws Error if the processor does not support it.
  void SetCompute(Compute compute);

  const std::deque<Parameter>& all() const { return parameters_; }
  std::deque<Parameter>& all() { return parameters_; }
  std::int64_t count() const;  ///< the number of elements
  DType dtype() const { return dtype_; }
  /// Returns the file from which the values were loaded, or "the model".
  const std::string& source() const { return source_; }
  void SetSource(const std::string& path) { source_ = path; }
  /// Throws Error with the message that the model computed NaN or infinity at `step`, for example "decoding step 3".
  /// Valid weights do not cause this.
  [[noreturn]] void FailNotFinite(std::string_view step) const;

  /// Return all trained parameters as one vector, and their gradients in the same order. Each parameter begins on a
  /// cache line and occupies Aligned(elements) elements.
  const Tensor& values() const { return values_; }
  /// Returns the vector values() followed by the statistics. It contains everything that training changes, and is
  /// stored in weight averages and checkpoints.
  const Tensor& state() const { return state_; }
  const Tensor& gradients() const { return gradients_; }
  static std::int64_t Aligned(std::int64_t elements) { return (elements + 15) / 16 * 16; }

 private:
  DType dtype_;
  std::deque<Parameter> parameters_;
  std::unordered_set<std::string> names_;  // names of all parameters
  Tensor state_, values_, gradients_;      // values_ is a view of state_
  std::string source_ = "the model";
};

/// A prefix of parameter names, for example Scope(parameters, "model") / "encoder" / "layers" / 0.
class HEADLIGHT_API Scope {
 public:
  explicit Scope(Parameters& parameters, std::string path = "") : parameters_(&parameters), path_(std::move(path)) {}

  Scope operator/(std::string_view name) const;  ///< returns the same scope if `name` is empty
  Scope operator/(std::int64_t index) const { return *this / std::to_string(index); }

  Parameter& Declare(std::string_view name, const Shape& shape, Initialization initialization) const;
  /// Declares a weight [outputs, inputs], whose inputs may be several axes, or a bias [outputs]. On disk, it is one
  /// tensor, or one tensor per name with `parts` rows each (default: equal parts).
  Parameter& DeclareMatrix(const std::vector<std::string>& names, const Shape& shape, bool stored_transposed = false,
                           const std::vector<std::int64_t>& parts = {}) const;
  /// Declares a convolution's weight [outputs, height, width, inputs]. It is the weight of a matrix product unless
  /// `in_products` is false.
  Parameter& DeclareKernel(std::string_view name, const Shape& shape, bool in_products = true) const;
  Parameter& DeclareVector(const std::vector<std::string>& names, std::int64_t outputs,
                           const std::vector<std::int64_t>& parts = {}) const;

 private:
  std::string Name(std::string_view name) const;
  std::vector<std::string> Names(const std::vector<std::string>& names) const;
  Parameters* parameters_;
  std::string path_;
};

}  // namespace headlight
