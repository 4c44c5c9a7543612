// Parameters: the weights of a model, declared once by the module that uses it, through a Scope that names it, and from
// then on initialised, loaded, saved and updated by that name. The names are those of the published checkpoints.
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

// How a parameter is initialised.
struct Initialisation {
  enum class Kind { constant, normal, xavier_uniform, waves } kind = Kind::constant;
  double value = 0;                    // the constant, or the standard deviation
  std::int64_t height = 0, width = 0;  // of the waves' grid

  static Initialisation Constant(double value) { return {Kind::constant, value}; }
  static Initialisation Normal(double deviation) { return {Kind::normal, deviation}; }
  // Uniform within +-sqrt(6 / (inputs + outputs)) (Glorot and Bengio, 2010, eq. 16).
  static Initialisation XavierUniform() { return {Kind::xavier_uniform, 0}; }
  // The last height * width rows are places of a grid: sines and cosines of the row and of the column, a quarter of the
  // numbers each, of wavelengths as in the Transformer (Beyer, Zhai and Kolesnikov, "Better plain ViT baselines for
  // ImageNet-1k", 2022), less their mean. Rows before them are normal with a deviation of 0.02.
  static Initialisation Waves(std::int64_t height, std::int64_t width, double deviation) {
    return {Kind::waves, deviation, height, width};
  }
};

struct Parameter;

// A batch norm behind a product, as far as it multiplies: output o by gain[o] / sqrt(variance[o] + epsilon).
struct FoldedNorm {
  const Parameter* gain = nullptr;  // null: there is none
  const Parameter* variance = nullptr;
  double epsilon = 0;
};

struct Parameter {
  std::vector<std::string> names;  // of its tensors on disk: one, or several that are one after another in memory
  Shape shape;
  Initialisation initialisation;

  /// How it is stored on disk.
  struct Storage {
    std::vector<std::int64_t> parts = {};  // of several tensors the rows of each; equal parts unless given
    bool transposed = false;               // a matrix is [inputs, outputs]
    bool channels_last = false;            // a convolution's [outputs, height, width, inputs], on disk inputs second
    bool saved = true;                     // false: of a training alone, and not part of the model's folder
  } storage;

  /// How the model and its training use it.
  struct Role {
    bool trained = true;       // false: part of the checkpoint, but constant, or
    bool statistic = false;    // a running average that passes in training update, such as batch norm's
    bool in_products = false;  // the weight matrix of a matrix product
    bool looked_up = false;    // a table whose rows are looked up
    bool winograd = false;     // a convolution's, packed in float32 by PackedForWinograd (kernels/winograd.h)
    bool exact = false;        // its products are in float32, whatever type the others are computed in
    FoldedNorm folded = {};    // multiplies the packed form, and not the value
  } role;

  // Its state.
  Tensor value;                         // empty where only the packed form is kept
  Tensor gradient;                      // empty until Parameters::PrepareTraining
  Compute compute = Compute::float32;   // of its products
  kernels::PackedMatrix<float> packed;  // for products; empty while it is not kept
  kernels::PackedMatrix<float> draft;   // the same in int8, for drafting tokens

  /// The rows of names[index] along the first axis, and the first of them.
  std::int64_t PartRows(std::size_t index) const;
  std::int64_t FirstRow(std::size_t index) const;
  // The factors of `folded` for the outputs; empty where there is none.
  std::vector<float> Factors() const;
  // Packs the values, with those factors, for products of this type.
  void Pack(Compute type);
  // Of a matrix of products: [outputs, inputs], where the inputs are all axes but the first, as those of a
  // convolution's [outputs, channels, height, width].
  Shape matrix_shape() const { return {shape[0], shape[0] == 0 ? 0 : shape.elements() / shape[0]}; }
};

// True where the parameter's name matches the shell pattern (fnmatch: *, ?, [...]). Throws Error where only some of the
// names that share one matrix do.
HEADLIGHT_API bool Matches(const Parameter& parameter, const std::string& pattern);

// The parameters of one model, in the order of their declaration, in contiguous memory.
class HEADLIGHT_API Parameters {
 public:
  explicit Parameters(DType dtype = DType::float32) : dtype_(dtype) {}
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  // The reference stays valid. Throws Error where a name is taken. After memory was allocated it may be called again,
  // before Initialise or InitialiseNew.
  Parameter& Declare(std::vector<std::string> names, const Shape& shape, Initialisation initialisation);

  // Gives every parameter its memory, not initialised; those that have values keep them.
  void Allocate();
  // Allocates and fills every parameter by its rule with numbers that depend on the seed and its name alone.
  void Initialise(std::uint64_t seed);
  // The same of those that have no values yet.
  void InitialiseNew(std::uint64_t seed);

  // From now on the parameters that `pattern` matches keep their values, and have no gradient. Throws Error where there
  // is none.
  void Freeze(const std::string& pattern);

  // Gives every trained parameter a gradient of zeros and drops the packed forms, since values are about to change.
  void PrepareTraining();

  // Packs the matrices of products, for many products with few rows: decoding. Values may not change until Unpack.
  void Pack();
  void Unpack();

  // True where every weight matrix has an int8 copy, too (LoadFor::computing_with_draft).
  bool have_draft() const;

  // Keeps the products of the parameters whose names begin so in float32, and stores them so.
  void KeepExact(std::string_view prefix);

  // The type that the factors of every matrix product are rounded to, but for exact ones; values and gradients stay as
  // they are. Throws Error where the processor has no instructions for it.
  void SetCompute(Compute compute);

  const std::deque<Parameter>& all() const { return parameters_; }
  std::deque<Parameter>& all() { return parameters_; }
  std::int64_t count() const;  // of numbers
  DType dtype() const { return dtype_; }
  // The file that the values were loaded from; "the model" where there is none.
  const std::string& source() const { return source_; }
  void SetSource(const std::string& path) { source_ = path; }
  // Throws Error: at `step`, such as "decoding step 3", the model gave NaN or an infinity, which sound weights do not.
  [[noreturn]] void FailNotFinite(std::string_view step) const;

  // All trained parameters as one vector, and their gradients in the same order. Each begins on a cache line: it takes
  // Aligned(elements).
  const Tensor& values() const { return values_; }
  // The same vector with the statistics behind it: all that training changes, which averages and checkpoints keep.
  const Tensor& state() const { return state_; }
  const Tensor& gradients() const { return gradients_; }
  static std::int64_t Aligned(std::int64_t elements) { return (elements + 15) / 16 * 16; }

 private:
  DType dtype_;
  std::deque<Parameter> parameters_;
  std::unordered_set<std::string> names_;  // of all
  Tensor state_, values_, gradients_;      // values_: a view of state_
  std::string source_ = "the model";
};

// A place in a model's tree of names: Scope(parameters, "model") / "encoder" / "layers" / 0.
class HEADLIGHT_API Scope {
 public:
  explicit Scope(Parameters& parameters, std::string path = "") : parameters_(&parameters), path_(std::move(path)) {}

  Scope operator/(std::string_view name) const;  // an empty name is the same place
  Scope operator/(std::int64_t index) const { return *this / std::to_string(index); }

  Parameter& Declare(std::string_view name, const Shape& shape, Initialisation initialisation) const;
  // A matrix [outputs, inputs] of products, where the inputs may be several axes, and a vector [outputs] of biases, on
  // disk under one name or in parts under several: of so many rows each, or of equal ones unless given.
  Parameter& DeclareMatrix(const std::vector<std::string>& names, const Shape& shape, bool stored_transposed = false,
                           const std::vector<std::int64_t>& parts = {}) const;
  // A convolution's weight, [outputs, height, width, inputs], a matrix of products unless `in_products` is false.
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
