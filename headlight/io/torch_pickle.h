// A safe reader for the pickles of torch.save. It accepts only the opcodes that torch.save writes (Python's
// pickletools.py), and the few names that a state dict needs. It runs no code that a pickle names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/io/safetensors.h"

namespace headlight {

/// A storage that a pickle refers to. Its data is in another part of the file.
struct TorchStorage {
  StoredType type = StoredType::f32;
  std::string_view key;  ///< name in the file
  std::int64_t elements = 0;
};

/// A view of a storage within its bounds.
struct TorchTensor {
  std::size_t storage = 0;  ///< index of the storage
  std::int64_t offset = 0;  ///< in elements
  Shape shape;
  std::vector<std::int64_t> strides;  ///< in elements, one per axis
};

struct PickleValue {
  enum class Kind : std::uint8_t {
    none,
    boolean,       ///< number
    integer,       ///< number
    long_integer,  ///< text: more than 8 bytes, little-endian
    real,
    text,          ///< text
    tuple,         ///< number: index of its items
    list,          ///< number: index of its items
    dict,          ///< number: index of its items, alternating between keys and values
    function,      ///< number: a function that REDUCE may call
    storage_type,  ///< number: a StoredType
    storage,       ///< number: index of a storage
    tensor,        ///< number: index of a tensor
  };
  Kind kind = Kind::none;
  std::int64_t number = 0;
  std::string_view text = {};  ///< view of the file's bytes
};

const char* Name(PickleValue::Kind kind);  ///< the name in Python, such as "dict"

/// The objects in a pickle. Views refer to the bytes of the pickle.
struct TorchPickle {
  PickleValue value;
  std::size_t size = 0;                        ///< size of the pickle in bytes
  std::deque<std::vector<PickleValue>> items;  ///< items of tuples, lists and dicts, by index
  std::vector<TorchStorage> storages = {};     ///< by index; their keys are distinct
  std::vector<TorchTensor> tensors = {};       ///< by index

  const std::vector<PickleValue>& ItemsOf(const PickleValue& of) const {
    return items[static_cast<std::size_t>(of.number)];
  }
  /// Returns the value of a dict's key, or nullptr if there is none.
  const PickleValue* Find(const PickleValue& dict, std::string_view key) const;
};

/// Parses the pickle that begins at bytes[begin]. Throws Error naming `source`, the byte and the rule for unknown
/// opcodes or names, and for damaged data. Memory is linear in the pickle's size.
TorchPickle ParseTorchPickle(std::span<const std::byte> bytes, std::size_t begin, const std::string& source);

}  // namespace headlight
