#include "headlight/models/files/activation_names.h"

#include "headlight/base/error.h"

namespace headlight {

Activation ActivationNamed(const JsonView& name) {
  const std::string text = name.String({"relu", "gelu", "gelu_new", "gelu_pytorch_tanh", "silu", "swish", "tanh"});
  if (text == "relu") return Activation::relu;
  if (text == "gelu") return Activation::gelu;
  if (text == "tanh") return Activation::tanh;
  return text.starts_with("gelu") ? Activation::gelu_tanh : Activation::silu;
}

const char* NameOf(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_new";
    case Activation::silu:
      return "swish";
    case Activation::tanh:
      return "tanh";
    default:
      break;
  }
  Fail("this activation has no name in a configuration");
}

}  // namespace headlight
