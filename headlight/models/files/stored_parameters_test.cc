#include "headlight/models/files/stored_parameters.h"

#include <gtest/gtest.h>

#include "headlight/autograd/tape.h"
#include "headlight/base/test_support.h"
#include "headlight/nn/context.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::stored_parameters_test {
namespace {

const Shape kernel = {3, 4, 2, 5};  // convolution weight [outputs, channels, height, width]

void Declare(Parameters& parameters) { Scope(parameters, "conv").DeclareMatrix({"weight"}, kernel); }

// Checks that parameters can be added. Training uses this to add a head to a model.
TEST(Parameters, GrowKeepTheirRolesAndAreSavedAlone) {
  Parameters parameters;
  Declare(parameters);
  parameters.Initialize(1);
  const std::vector<float> before = parameters.all().front().value.ToVector<float>();
  Parameter& head = Scope(parameters, "head").DeclareMatrix({"weight"}, {2, 3});
  head.storage.saved = false;
  parameters.InitializeNew(2);
  EXPECT_EQ(parameters.all().front().value.ToVector<float>(), before);
  EXPECT_NE(head.value.ToVector<float>(), std::vector<float>(6));
  EXPECT_EQ(parameters.values().elements(), Parameters::Aligned(120) + Parameters::Aligned(6));
  const TemporaryFolder folder;
  SaveParameters(parameters, folder.File("model.safetensors"));
  const Safetensors file(folder.File("model.safetensors"));
  EXPECT_TRUE(file.contains("conv.weight"));
  EXPECT_EQ(file.tensors().size(), 1U);
}

TEST(ConvolutionWeights, AreUsedAsAMatrixOfAllInputs) {
  Parameters parameters;
  Declare(parameters);
  parameters.Initialize(1);
  const Parameter& weight = parameters.all().front();
  EXPECT_EQ(weight.packed.rows(), 40);
  EXPECT_EQ(weight.packed.columns(), 3);
  const Tensor x = Tensor::Empty({2, 40});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.data<float>()[i] = static_cast<float>(i % 7) - 3;
  const Tensor matrix = weight.value.ViewAs({3, 40});
  Context context;
  EXPECT_EQ(ops::Linear(x, context.UseWeight(weight)).ToVector<float>(),
            ops::Linear(x, ops::Weight{matrix}).ToVector<float>());

  parameters.PrepareTraining();
  Tape tape;
  context.tape = &tape;
  tape.Backward(ops::Sum(ops::Linear(x, context.UseWeight(weight))));
  EXPECT_EQ(weight.gradient.shape(), kernel);
  for (std::int64_t i = 0; i < weight.gradient.elements(); ++i)
    ASSERT_EQ(weight.gradient.data<float>()[i], x.data<float>()[i % 40] + x.data<float>()[40 + i % 40]);
}

// Checks that one matrix in memory can be stored as several tensors of any size.
TEST(Parameters, AreStoredInUnequalSlices) {
  const auto declare = [](Parameters& parameters) {
    const Scope scope(parameters);
    scope.DeclareMatrix({"q.weight", "k.weight", "v.weight"}, {9, 40}, /*stored_transposed=*/false, {6, 2, 1});
    scope.DeclareMatrix({"a", "b"}, {5, 40}, /*stored_transposed=*/true, {1, 4});
    scope.DeclareVector({"q.bias", "k.bias"}, 4, {1, 3});
  };
  const auto harmless = [](std::string_view) { return false; };
  Parameters parameters;
  declare(parameters);
  parameters.Initialize(1);
  for (const Parameter& parameter : parameters.all())
    for (std::int64_t i = 0; i < parameter.value.elements(); ++i)
      parameter.value.data<float>()[i] = static_cast<float>(i % 127 - 63) / 16;
  const TemporaryFolder folder;
  for (const Compute compute : {Compute::float32, Compute::int8, Compute::int4}) {
    SCOPED_TRACE(Name(compute));
    const std::string path = folder.File("weights.safetensors");
    SaveParameters(parameters, path, {}, compute);
    const Safetensors file(path);
    if (compute == Compute::float32) {
      EXPECT_EQ(file.At("k.weight").shape, Shape({2, 40}));
      EXPECT_EQ(file.At("b").shape, Shape({40, 4}));
      EXPECT_EQ(file.At("k.bias").shape, Shape({3}));
      EXPECT_EQ(file.Read("k.weight").data<float>()[0], parameters.all()[0].value.data<float>()[6 * 40]);
      EXPECT_EQ(file.Read("b").data<float>()[1], parameters.all()[1].value.data<float>()[2 * 40]);
    }
    Parameters loaded, computing;
    declare(loaded);
    declare(computing);
    computing.SetCompute(compute);
    LoadParameters(loaded, file, harmless, LoadFor::everything);
    LoadParameters(computing, file, harmless, LoadFor::computing);
    const double tolerance = compute == Compute::float32 ? 0 : compute == Compute::int8 ? 0.03 : 0.4;
    for (std::size_t index = 0; index < parameters.all().size(); ++index) {
      const Parameter &expected = parameters.all()[index], &whole = loaded.all()[index];
      for (std::int64_t i = 0; i < expected.value.elements(); ++i)
        ASSERT_NEAR(whole.value.data<float>()[i], expected.value.data<float>()[i], tolerance) << index << " " << i;
      if (!whole.role.in_products) continue;
      const Tensor x = Tensor::Empty({1, 40});
      x.Fill(1);
      const Tensor y = ops::Linear(x, Context().UseWeight(computing.all()[index]));
      for (std::int64_t output = 0; output < whole.shape[0]; ++output) {
        double sum = 0;
        for (std::int64_t i = 0; i < 40; ++i) sum += static_cast<double>(whole.value.data<float>()[output * 40 + i]);
        EXPECT_NEAR(y.data<float>()[output], sum, 0.1) << index << " " << output;
      }
    }
  }
}

// Checks that a bfloat16 table that also computes the logits is in memory only once. The boundary of its two tensors is
// in the middle of a panel, and the table has several slices.
TEST(Parameters, AreLookedUpInTheirPackedFormIfItIsExact) {
  if (!kernels::CpuHas(Compute::bfloat16)) GTEST_SKIP() << "a processor without products in bfloat16";
  constexpr std::int64_t first = 4100, second = 30, inputs = 5;
  const auto declare = [](Parameters& parameters) -> Parameter& {
    Parameter& table = Scope(parameters).DeclareMatrix({"a", "b"}, {first + second, inputs}, false, {first, second});
    table.role.looked_up = true;
    return table;
  };
  std::vector<std::uint16_t> bits;
  for (std::int64_t i = 0; i < (first + second) * inputs; ++i)
    bits.push_back(static_cast<std::uint16_t>(0x3f80 + i % 128));
  const auto bytes = std::as_bytes(std::span(bits));
  const auto stored = [&](const char* name, std::int64_t row, std::int64_t rows) {
    const auto size = static_cast<std::size_t>(2 * inputs);
    return StoredTensor{name,
                        StoredType::bf16,
                        {rows, inputs},
                        bytes.subspan(static_cast<std::size_t>(row) * size, static_cast<std::size_t>(rows) * size)};
  };
  const Safetensors file = Safetensors::Of("table", {stored("a", 0, first), stored("b", first, second)});
  const auto harmless = [](std::string_view) { return false; };
  Parameters parameters, whole;
  const Parameter& table = declare(parameters);
  const Parameter& expected = declare(whole);
  parameters.SetCompute(Compute::bfloat16);
  LoadParameters(parameters, file, harmless, LoadFor::computing);
  LoadParameters(whole, file, harmless);
  EXPECT_TRUE(table.value.empty());
  const std::vector<std::int32_t> ids = {0, 63, 4095, 4096, 4099, 4100, 4129};
  EXPECT_EQ(ops::Rows(Context().UseWeight(table), ids).ToVector<float>(),
            ops::Rows(ops::Weight{expected.value}, ids).ToVector<float>());
}

TEST(ConvolutionWeights, AreQuantizedPackedAndStoredLikeMatrices) {
  const TemporaryFolder folder;
  Parameters parameters;
  Declare(parameters);
  parameters.Initialize(1);
  const std::vector<float> values = parameters.all().front().value.ToVector<float>();
  const auto harmless = [](std::string_view) { return false; };
  for (const Compute compute : {Compute::float32, Compute::int8, Compute::int4}) {
    const std::string path = folder.File("weights.safetensors");
    SaveParameters(parameters, path, {}, compute);
    Parameters loaded, computing;
    Declare(loaded);
    Declare(computing);
    computing.SetCompute(compute);
    LoadParameters(loaded, Safetensors(path), harmless, LoadFor::everything);
    LoadParameters(computing, Safetensors(path), harmless, LoadFor::computing);
    const Parameter &whole = loaded.all().front(), &packed = computing.all().front();
    EXPECT_EQ(whole.value.shape(), kernel);
    const double tolerance = compute == Compute::float32 ? 0 : compute == Compute::int8 ? 0.01 : 0.1;
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(whole.value.data<float>()[i], values[i], tolerance) << Name(compute) << i;
    EXPECT_TRUE(packed.value.empty());
    const Tensor x = Tensor::Empty({1, 40});
    x.Fill(1);
    const Tensor y = ops::Linear(x, Context().UseWeight(packed));
    for (std::int64_t output = 0; output < 3; ++output) {
      double expected = 0;
      for (std::int64_t i = 0; i < 40; ++i) expected += static_cast<double>(whole.value.data<float>()[output * 40 + i]);
      EXPECT_NEAR(y.data<float>()[output], expected, 0.02) << Name(compute);
    }
  }
}

}  // namespace
}  // namespace headlight::stored_parameters_test
