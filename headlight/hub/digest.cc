#include "headlight/hub/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "headlight/base/error.h"

namespace headlight {

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

void Digest::Deleter::operator()(State* state) const { delete state; }

Digest::Digest(const char* algorithm) : state_(new State) {
  const EVP_MD* const type = EVP_get_digestbyname(algorithm);
  Ensure(type != nullptr && EVP_DigestInit_ex(state_->context, type, nullptr) == 1, "OpenSSL has no {}", algorithm);
}

Digest Digest::Sha256() { return Digest("SHA256"); }

Digest Digest::GitBlob(std::uint64_t size) {
  Digest digest("SHA1");
  digest.Update(fmt::format("blob {}", size) + '\0');
  return digest;
}

void Digest::Update(std::string_view bytes) { EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()); }

std::string Digest::Hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned size = 0;
  EVP_DigestFinal_ex(state_->context, bytes.data(), &size);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", bytes[i]);
  return hex;
}

}  // namespace headlight
