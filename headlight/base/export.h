// Marks what the shared library shows; every other symbol is hidden.
#pragma once

#define HEADLIGHT_API __attribute__((visibility("default")))
