// Declares functions shared by the readers of sequences and alignments.
#pragma once

#include <string>
#include <string_view>

namespace headlight {

/// Returns true for ASCII letters only.
bool IsLetter(char c);
char UpperCase(char c);
/// Returns true for a space or a tab.
bool IsBlank(char c);
/// Formats the character for an error message.
std::string Shown(char c);
std::string_view Trimmed(std::string_view text);
/// Returns true if a row with this name is an HH-suite annotation instead of a sequence: ss_dssp, ss_pred, ss_conf,
/// sa_dssp or sa_pred. These are secondary structure, its confidence, and solvent accessibility.
bool IsAnnotation(std::string_view name);

}  // namespace headlight
