// Shared by the readers of sequences and of alignments.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

bool IsLetter(char c);  // ASCII only
char UpperCase(char c);
bool IsBlank(char c);       // a space or a tab
std::string Shown(char c);  // for an error message
std::string_view Trimmed(std::string_view text);
/// True if a row with this name is an annotation by HH-suite (secondary structure, its confidence, solvent
/// accessibility) instead of a sequence: ss_dssp, ss_pred, ss_conf, sa_dssp or sa_pred.
bool IsAnnotation(std::string_view name);

}  // namespace headlight
