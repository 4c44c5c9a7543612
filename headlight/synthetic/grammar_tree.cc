#include "headlight/synthetic/grammar_tree.h"

namespace headlight {

Agreement AgreementOf(const NounPhrase& phrase) {
  switch (phrase.head) {
    case NounPhrase::Head::noun:
      return {3, phrase.plural, phrase.noun->gender, (phrase.noun->kinds & kind::person) != 0};
    case NounPhrase::Head::name:
      return {3, phrase.and_also != nullptr, phrase.name->gender, true};
    case NounPhrase::Head::question:
      return {};
    case NounPhrase::Head::pronoun:
    case NounPhrase::Head::relative:
      break;
  }
  return phrase.agreement;
}

void Append(std::string& text, std::string_view word) {
  if (!text.empty() && !word.empty()) text += ' ';
  text += word;
}

std::string Punctuated(std::string text, Sentence::Mood mood) {
  if (text.ends_with(",")) text.pop_back();  // a relative clause ends with a comma
  // In UTF-8 the lower-case umlauts are C3 A4, C3 B6 and C3 BC. The distance to the capitals is 0x20, as in ASCII.
  char& letter = text.starts_with("\xC3") ? text[1] : text[0];
  letter = static_cast<char>(letter & ~0x20);
  return text + (mood == Sentence::Mood::statement ? '.' : '?');
}

}  // namespace headlight
