// Marks symbols that the shared library exports; all others are hidden.
#pragma once

#define HEADLIGHT_API __attribute__((visibility("default")))
