// The names of activations in Hugging Face's configurations.
#pragma once

#include "headlight/io/config_table.h"
#include "headlight/kernels/activation.h"

namespace headlight {

inline constexpr ConfigName<Activation> kActivationNames[] = {{"relu", Activation::relu},
                                                              {"gelu", Activation::gelu},
                                                              {"gelu_new", Activation::gelu_tanh},
                                                              {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                                              {"swish", Activation::silu},
                                                              {"silu", Activation::silu},
                                                              {"quick_gelu", Activation::quick_gelu},
                                                              {"tanh", Activation::tanh}};

/// The names of activations, with the names that gated models use first.
inline constexpr ConfigName<Activation> kGateNames[] = {{"silu", Activation::silu},
                                                        {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                                        {"gelu", Activation::gelu},
                                                        {"relu", Activation::relu},
                                                        {"swish", Activation::silu},
                                                        {"gelu_new", Activation::gelu_tanh},
                                                        {"quick_gelu", Activation::quick_gelu},
                                                        {"tanh", Activation::tanh}};

}  // namespace headlight
