#include "headlight/autograd/tape.h"

#include <gtest/gtest.h>

#include "headlight/autograd/gradient_check.h"

namespace headlight::tape_test {
namespace {

// Computes y = x * x elementwise. The factor `slope` of the gradient is 2 unless a test introduces an error.
Tensor Square(const Tensor& x, double slope = 2) {
  const std::vector<double> values = x.ToVector<double>();
  Tensor y = Tensor::Empty(x.shape(), DType::float64);
  for (std::size_t i = 0; i < values.size(); ++i) y.data<double>()[i] = values[i] * values[i];
  return Record(y, {&x}, [node = x.node(), values, slope](const Tensor& dy) {
    Tensor dx = Tensor::Empty(dy.shape(), DType::float64);
    for (std::size_t i = 0; i < values.size(); ++i) dx.data<double>()[i] = slope * values[i] * dy.data<double>()[i];
    Accumulate(node, dx);
  });
}

Tensor Add(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = a.ToVector<double>(), right = b.ToVector<double>();
  Tensor y = Tensor::Empty(a.shape(), DType::float64);
  for (std::size_t i = 0; i < left.size(); ++i) y.data<double>()[i] = left[i] + right[i];
  return Record(y, {&a, &b}, [a = a.node(), b = b.node()](const Tensor& dy) {
    Accumulate(a, dy);
    Accumulate(b, dy);
  });
}

Tensor Columns(const Tensor& x, std::int64_t begin, std::int64_t count) {
  return RecordView(x.ViewColumns(begin, count), x,
                    [begin, count](const Tensor& dx) { return dx.ViewColumns(begin, count); });
}

TEST(GradientCheck, AcceptsCorrectGradients) {
  EXPECT_EQ("", CheckGradients([](const auto& in) { return Square(in[0]); }, {RandomTensor({2, 3}, 1)}));
}

TEST(GradientCheck, CatchesAPlantedDefect) {
  const std::string report =
      CheckGradients([](const auto& in) { return Square(in[0], 2.001); }, {RandomTensor({2, 3}, 1)});
  EXPECT_NE(report.find("input 0: d output["), std::string::npos) << report;
}

TEST(Tape, SumsGradientsOfSeveralUses) {
  // Add passes the same gradient tensor to both inputs, and x is used many times. The tensor must be copied when
  // another gradient is added to it.
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor x = in[0], square = Square(x), twice = Add(square, x);
    return Add(Add(twice, square), Add(x, Square(twice)));
  };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({3}, 2)}));
}

TEST(Tape, GradientsOfViewsAreViews) {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor x = Square(in[0]);
    return Add(Square(Columns(x, 0, 1)), Columns(x, 2, 1));
  };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({2, 3}, 3)}));
}

// Checks an operation that opens the slots of all its inputs before it writes to any of them.
TEST(Tape, AllowsOpenSlotsOfSeveralViewsOfOneNode) {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor x = Square(in[0]);
    const Tensor a = Columns(x, 0, 1), b = Columns(x, 1, 1);
    const Tensor sum = Add(a.Detached(), b.Detached());
    return Record(sum, {&a, &b}, [a = a.node(), b = b.node()](const Tensor& dy) {
      const GradientSlot to[] = {SlotFor(a), SlotFor(b)};
      for (const GradientSlot& slot : to)
        for (std::int64_t row = 0; row < dy.rows(); ++row) {
          EXPECT_FALSE(slot.accumulate);  // nothing has been added to these columns
          slot.tensor.matrix<double>().row(row)[0] = dy.matrix<double>().row(row)[0];
        }
    });
  };
  EXPECT_EQ("", CheckGradients(f, {RandomTensor({2, 3}, 4)}));
}

// Checks overlapping views, columns without views, and a whole tensor that is used before or after its views.
TEST(Tape, SumsGradientsOfViewsAndOfTheWhole) {
  for (const bool whole_first : {false, true}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      const Tensor x = Square(in[0]);
      Tensor whole = whole_first ? Square(x) : Tensor();
      const Tensor parts = Add(Add(Square(Columns(x, 0, 2)), Columns(x, 3, 2)), Square(Columns(x, 1, 2)));
      if (!whole_first) whole = Square(x);
      return Add(parts, Columns(whole, 2, 2));
    };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({3, 6}, 5)}));
  }
}

// Checks that opening a slot of the whole tensor fails while an overwriting slot of a view is open.
TEST(Tape, RejectsASlotOfTheWholeWhileAViewHasOne) {
  Tape tape;
  const Tensor x = Square(tape.Watch(Tensor::From<double>({3, 4}, {1, 2})));
  const Tensor view = Columns(x, 0, 1);
  const Tensor y =
      Record(Tensor::From<double>({3}, {1}), {&x, &view}, [x = x.node(), view = view.node()](const Tensor&) {
        const GradientSlot first = SlotFor(view), second = SlotFor(x);
      });
  EXPECT_THROW(tape.Backward(y), Error);
}

TEST(Tape, RejectsTwoOpenSlotsIfOneOverwrites) {
  Tape tape;
  const Tensor x = tape.Watch(Tensor::From<double>({3}, {1}));
  const Tensor y = Record(x.Detached(), {&x}, [node = x.node()](const Tensor&) {
    const GradientSlot first = SlotFor(node), second = SlotFor(node);
  });
  EXPECT_THROW(tape.Backward(y), Error);
}

TEST(Tape, RejectsInputsOnTwoTapes) {
  Tape one, other;
  const Tensor x = Tensor::From<double>({3}, {1});
  EXPECT_THROW(Add(one.Watch(x), other.Watch(x)), Error);
}

TEST(Tape, AddsToTheLeafsOwnGradient) {
  Tape tape;
  const Tensor x = Tensor::From<double>({3}, {1}), gradient = Tensor::From<double>({10}, {1});
  const Tensor leaf = tape.Watch(x, gradient);
  tape.Backward(Square(leaf));
  EXPECT_EQ(gradient.data<double>()[0], 16);
}

TEST(Tape, RecordsNothingWithoutLeaves) { EXPECT_EQ(Square(Tensor::From<double>({3}, {1})).node(), nullptr); }

// Checks that a gradient is reported as complete once no more is added to it, even if much of the pass remains.
TEST(Tape, ReportsCompleteGradients) {
  const Tensor x = RandomTensor({3}, 5);
  const auto complete = [&](bool again) {
    Tape tape;
    const std::vector<Tensor> gradients = {Tensor::Zeros({3}, DType::float64), Tensor::Zeros({3}, DType::float64),
                                           Tensor::Zeros({3}, DType::float64)};
    const auto leaf = [&](std::size_t index) { return tape.Watch(x, gradients[index]); };
    Tensor y = Square(leaf(0));
    if (again) y = Add(y, tape.Watch(x));  // this leaf may represent uses of any other leaf
    y = Square(Add(y, leaf(1)));
    y = Square(Add(y, leaf(2)));
    y = Square(Add(y, leaf(1)));
    const Tensor sum = Record(Tensor::Zeros({1}, DType::float64), {&y}, [y = y.node()](const Tensor&) {
      Tensor ones = Tensor::Empty({3}, DType::float64);
      ones.Fill(1);
      Accumulate(y, ones);
    });
    std::vector<std::size_t> order;
    std::vector<std::vector<double>> values;
    tape.Backward(sum, [&](const Tensor& gradient) {
      for (std::size_t i = 0; i < 3; ++i)
        if (gradients[i].data<double>() == gradient.data<double>()) order.push_back(i);
      values.push_back(gradient.ToVector<double>());
    });
    for (std::size_t i = 0; i < order.size(); ++i)
      EXPECT_EQ(values[i], gradients[order[i]].ToVector<double>()) << "something was added to " << order[i];
    return order;
  };
  EXPECT_EQ(complete(false), (std::vector<std::size_t>{2, 1, 0}));
  EXPECT_EQ(complete(true), (std::vector<std::size_t>{2, 1, 0}));
}

TEST(Tape, ReportsNothingCompleteBeforeRecomputedParts) {
  const Tensor x = RandomTensor({1}, 5), gradient = Tensor::Zeros({1}, DType::float64);
  Tape tape;
  const Tensor before = tape.Watch(x);  // this leaf represents an operation that adds to `gradient`
  const Tensor again =
      Record(x.Clone(), {&before}, [&](const Tensor& dy) { gradient.data<double>()[0] += 10 * dy.data<double>()[0]; });
  const Tensor sum = Add(again, tape.Watch(x, gradient));
  std::vector<double> complete;
  tape.Backward(sum, [&](const Tensor& known) { complete.push_back(known.data<double>()[0]); });
  EXPECT_EQ(complete, std::vector<double>{11});
}

}  // namespace
}  // namespace headlight::tape_test
