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
// Returns true if a row of this name is an annotation of the query by HH-suite (secondary structure, its confidence,
// solvent accessibility) instead of a sequence: ss_dssp, ss_pred, ss_conf, sa_dssp or sa_pred.
bool IsAnnotation(std::string_view name);

}  // namespace headlight
