#include "headlight/nn/parameters.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/random.h"
#include "headlight/kernels/winograd.h"

namespace headlight {
namespace {

// Returns the table of Initialization::Waves, [height * width, model].
std::vector<double> Waves(const Initialization& rule, std::int64_t model) {
  const std::int64_t quarter = model / 4, places = rule.height * rule.width;
  std::vector<double> waves(static_cast<std::size_t>(places * model));
  double squares = 0;
  for (std::int64_t i = 0; i < 4 * quarter; ++i) {  // for each feature
    const double frequency = std::pow(10000.0, -static_cast<double>(i % quarter) / static_cast<double>(quarter));
    const auto wave = [&](std::int64_t position) {
      const double angle =
          frequency * static_cast<double>(i < 2 * quarter ? position / rule.width : position % rule.width);
      return i / quarter % 2 == 0 ? std::sin(angle) : std::cos(angle);
    };
    double mean = 0;
    for (std::int64_t position = 0; position < places; ++position) mean += wave(position) / static_cast<double>(places);
    for (std::int64_t position = 0; position < places; ++position) {
      double& value = waves[static_cast<std::size_t>(position * model + i)];
      value = wave(position) - mean;
      squares += value * value;
    }
  }
  const double scale = squares == 0 ? 0 : rule.value / std::sqrt(squares / static_cast<double>(waves.size()));
  for (double& value : waves) value *= scale;
  return waves;
}

void SetParts(Parameter& parameter, const std::vector<std::int64_t>& parts) {
  if (parts.empty()) return;
  Ensure(parts.size() == parameter.names.size() &&
             std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == parameter.shape[0],
         "{}: {} parts of {} rows", parameter.names.front(), parts.size(), parameter.shape[0]);
  parameter.storage.parts = parts;
}

void Fill(const Parameter& parameter, std::uint64_t seed) {
  const Initialization& rule = parameter.initialization;
  if (rule.kind == Initialization::Kind::constant) return parameter.value.Fill(rule.value);
  Hash64 name;
  name.Update(parameter.names.front());
  Random random(seed, name.value());
  // The fan is computed from the matrix in memory. The initial values of fused projections are therefore slightly
  // smaller, as is usual.
  const auto fan = [&](int axis) {
    return parameter.shape.rank() > axis ? parameter.shape.elements() / std::max<std::int64_t>(1, parameter.shape[axis])
                                         : 1;
  };
  const double limit = std::sqrt(6.0 / static_cast<double>(fan(0) + fan(1)));
  const bool uniform = rule.kind == Initialization::Kind::xavier_uniform;
  const bool waves = rule.kind == Initialization::Kind::waves;
  Dispatch(parameter.value.dtype(), [&]<typename T>(T) {
    const std::span<T> values = parameter.value.span<T>();
    for (T& value : values)
      value =
          static_cast<T>(uniform ? limit * (2 * random.Uniform() - 1) : (waves ? 0.02 : rule.value) * random.Normal());
    if (!waves) return;
    const std::vector<double> places = Waves(rule, parameter.value.columns());
    std::ranges::transform(places, values.last(places.size()).begin(),
                           [](double wave) { return static_cast<T>(wave); });
  });
}

}  // namespace

std::vector<float> Parameter::Factors() const {
  std::vector<float> factors;
  if (role.folded.gain == nullptr) return factors;
  const std::vector<float> gains = role.folded.gain->value.ToVector<float>();
  const std::vector<float> variances = role.folded.variance->value.ToVector<float>();
  for (std::size_t i = 0; i < gains.size(); ++i)
    factors.push_back(gains[i] / std::sqrt(variances[i] + static_cast<float>(role.folded.epsilon)));
  return factors;
}

void Parameter::Pack(Compute type) {
  const Matrix<const float> values = value.ViewAs(matrix_shape()).matrix<float>();
  const std::vector<float> factors = Factors();
  const float* const of_outputs = factors.empty() ? nullptr : factors.data();
  if (role.winograd && type == Compute::float32) {
    packed = kernels::PackedForWinograd(values, of_outputs);
    return;
  }
  if (packed.columns() == 0) packed = kernels::PackedMatrix<float>(values.columns, values.rows, type);
  packed.Pack(values, /*transposed=*/true, of_outputs);
}

Parameter& Parameters::Declare(std::vector<std::string> names, const Shape& shape, Initialization initialization) {
  for (const std::string& name : names) Ensure(names_.insert(name).second, "parameter {} is declared twice", name);
  Parameter& parameter = parameters_.emplace_back();
  parameter.names = std::move(names);
  parameter.shape = shape;
  parameter.initialization = initialization;
  state_ = values_ = gradients_ = {};
  return parameter;
}

std::int64_t Parameter::PartRows(std::size_t index) const {
  return storage.parts.empty() ? shape[0] / static_cast<std::int64_t>(names.size()) : storage.parts[index];
}

std::int64_t Parameter::FirstRow(std::size_t index) const {
  std::int64_t first = 0;
  for (std::size_t before = 0; before < index; ++before) first += PartRows(before);
  return first;
}

void Parameters::Allocate() {
  if (!values_.empty()) return;
  std::int64_t trained = 0, statistics = 0;
  for (const Parameter& parameter : parameters_) {
    if (parameter.role.trained) trained += Aligned(parameter.shape.elements());
    if (parameter.role.statistic) statistics += Aligned(parameter.shape.elements());
  }
  state_ = Tensor::Zeros({trained + statistics}, dtype_);
  values_ = state_.ViewRows(0, trained);
  std::int64_t begin = 0, statistic = trained;
  for (Parameter& parameter : parameters_) {
    const Tensor kept = parameter.value;
    if (parameter.role.trained || parameter.role.statistic) {
      std::int64_t& at = parameter.role.trained ? begin : statistic;
      parameter.value = state_.ViewRows(at, parameter.shape.elements()).ViewAs(parameter.shape);
      at += Aligned(parameter.shape.elements());
    } else {
      parameter.value = Tensor::Empty(parameter.shape, dtype_);
    }
    if (!kept.empty()) parameter.value.CopyFrom(kept);
  }
}

void Parameters::Initialize(std::uint64_t seed) {
  Allocate();
  for (const Parameter& parameter : parameters_) Fill(parameter, seed);
  Pack();
}

bool Matches(const Parameter& parameter, const std::string& pattern) {
  const auto fits = std::ranges::count_if(
      parameter.names, [&](const std::string& name) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
  Check(fits == 0 || fits == std::ssize(parameter.names), "{} matches only some of {}, which are one matrix in memory",
        pattern, fmt::join(parameter.names, ", "));
  return fits > 0;
}

void Parameters::InitializeNew(std::uint64_t seed) {
  std::vector<const Parameter*> fresh;
  for (const Parameter& parameter : parameters_)
    if (parameter.value.empty()) fresh.push_back(&parameter);
  Allocate();
  for (const Parameter* parameter : fresh) Fill(*parameter, seed);
  Pack();
}

void Parameters::Freeze(const std::string& pattern) {
  const bool allocated = !values_.empty(), prepared = !gradients_.empty();
  bool found = false;
  for (Parameter& parameter : parameters_) {
    const bool matches = Matches(parameter, pattern);
    found = found || matches;
    parameter.role.trained = parameter.role.trained && !matches;
    if (matches) parameter.gradient = {};
  }
  Check(found, "no parameter matches {}", pattern);
  if (!allocated) return;
  state_ = values_ = {};
  Allocate();
  if (prepared) PrepareTraining();
}

void Parameters::PrepareTraining() {
  gradients_ = Tensor::Zeros({values_.elements()}, dtype_);
  std::int64_t begin = 0;
  for (Parameter& parameter : parameters_) {
    if (!parameter.role.trained) continue;
    parameter.gradient = gradients_.ViewRows(begin, parameter.shape.elements()).ViewAs(parameter.shape);
    begin += Aligned(parameter.shape.elements());
  }
  Unpack();
}

void Parameters::Pack() {
  if (dtype_ != DType::float32) return;
  for (Parameter& parameter : parameters_) {
    if (!parameter.role.in_products) continue;
    parameter.Pack(parameter.compute);
  }
}

void Parameters::Unpack() {
  for (Parameter& parameter : parameters_) parameter.packed = {};
}

void Parameters::KeepExact(std::string_view prefix) {
  for (Parameter& parameter : parameters_) parameter.role.exact |= parameter.names.front().starts_with(prefix);
}

void Parameters::SetCompute(Compute compute) {
  Check(kernels::CpuHas(compute),
        "this processor cannot compute in {} (it lacks AVX-512 BF16), only in float32, int8 and int4", Name(compute));
  const bool packed = std::ranges::any_of(parameters_, [](const Parameter& p) { return p.packed.columns() != 0; });
  Unpack();
  for (Parameter& parameter : parameters_) parameter.compute = parameter.role.exact ? Compute::float32 : compute;
  if (packed) Pack();
}

void Parameters::FailNotFinite(std::string_view step) const {
  Fail("{}: {}: the model gives NaN or infinite numbers: its weights are damaged", source_, step);
}

bool Parameters::have_draft() const {
  return std::ranges::any_of(parameters_, [](const Parameter& p) { return p.draft.columns() != 0; });
}

std::int64_t Parameters::count() const {
  std::int64_t sum = 0;
  for (const Parameter& parameter : parameters_) sum += parameter.shape.elements();
  return sum;
}

Scope Scope::operator/(std::string_view name) const { return Scope(*parameters_, Name(name)); }

std::string Scope::Name(std::string_view name) const {
  if (name.empty()) return path_;
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

Parameter& Scope::Declare(std::string_view name, const Shape& shape, Initialization initialization) const {
  return parameters_->Declare({Name(name)}, shape, initialization);
}

std::vector<std::string> Scope::Names(const std::vector<std::string>& names) const {
  std::vector<std::string> full;
  for (const std::string& name : names) full.push_back(Name(name));
  return full;
}

Parameter& Scope::DeclareMatrix(const std::vector<std::string>& names, const Shape& shape, bool stored_transposed,
                                const std::vector<std::int64_t>& parts) const {
  Ensure(shape.rank() == 2 || !stored_transposed, "a weight of shape {} is stored transposed", ToString(shape));
  Parameter& parameter = parameters_->Declare(Names(names), shape, Initialization::XavierUniform());
  SetParts(parameter, parts);
  parameter.role.in_products = true;
  parameter.storage.transposed = stored_transposed;
  return parameter;
}

Parameter& Scope::DeclareKernel(std::string_view name, const Shape& shape, bool in_products) const {
  Ensure(shape.rank() == 4, "{}: a convolution's weight of shape {}", name, ToString(shape));
  // The deviation preserves the variance of the gradients (He et al., "Delving Deep into Rectifiers", 2015).
  const double outputs = static_cast<double>(shape[0] * shape[1] * shape[2]);
  Parameter& parameter = Declare(name, shape, Initialization::Normal(std::sqrt(2 / std::max(1.0, outputs))));
  parameter.role.in_products = in_products;
  parameter.storage.channels_last = true;
  return parameter;
}

Parameter& Scope::DeclareVector(const std::vector<std::string>& names, std::int64_t outputs,
                                const std::vector<std::int64_t>& parts) const {
  Parameter& parameter = parameters_->Declare(Names(names), {outputs}, Initialization::Constant(0));
  SetParts(parameter, parts);
  return parameter;
}

}  // namespace headlight
