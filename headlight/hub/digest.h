// Computes SHA-256 and git's hash of a file. A hub identifies files by these hashes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headlight {

// Computes a hash incrementally.
class Digest {
 public:
  static Digest Sha256();
  // Computes git's hash of a file of `size` bytes: the SHA-1 of "blob SIZE", a zero byte and the content.
  static Digest GitBlob(std::uint64_t size);

  void Update(std::string_view bytes);
  std::string Hex();  // returns the hash; must be the last call

 private:
  struct State;
  struct Deleter {
    void operator()(State* state) const;
  };
  explicit Digest(const char* algorithm);

  std::unique_ptr<State, Deleter> state_;
};

}  // namespace headlight
