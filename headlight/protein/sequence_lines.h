// Shared by the readers of sequences and of alignments.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

bool IsLetter(char c);  // of ASCII
char UpperCase(char c);
bool IsBlank(char c);       // a space or a tab
std::string Shown(char c);  // for an error
std::string_view Trimmed(std::string_view text);

}  // namespace headlight
