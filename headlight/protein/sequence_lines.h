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
// Whether a row of this name is HH-suite's annotation of the query (secondary structure, its confidence, solvent
// accessibility), not a sequence: ss_dssp, ss_pred, ss_conf, sa_dssp or sa_pred.
bool IsAnnotation(std::string_view name);

}  // namespace headlight
