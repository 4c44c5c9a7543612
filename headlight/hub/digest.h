// SHA-256 and git's hash of a file, by which a hub names what it stores.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headlight {

// The hash of bytes that arrive in pieces.
class Digest {
 public:
  static Digest Sha256();
  // As git names a file of `size` bytes: the SHA-1 of "blob SIZE", a zero byte and the content.
  static Digest GitBlob(std::uint64_t size);

  void Update(std::string_view bytes);
  std::string Hex();  // ends it: nothing can be added

 private:
  struct State;
  struct Deleter {
    void operator()(State* state) const;
  };
  explicit Digest(const char* algorithm);

  std::unique_ptr<State, Deleter> state_;
};

}  // namespace headlight
