// Marks symbols that the shared library exports. All other symbols are hidden.
#pragma once

#define HEADLIGHT_API __attribute__((visibility("default")))
