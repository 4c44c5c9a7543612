#include "headlight/io/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/io/torch_pickle.h"
#include "headlight/io/zip.h"

namespace headlight {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = PickleValue::Kind;

std::int64_t SizeOf(const TorchStorage& storage) { return storage.elements * SizeOf(storage.type); }

// A state dict and the bytes of its storages.
struct Described {
  TorchPickle pickle;
  std::vector<Bytes> storages;
};

Described ReadArchive(Bytes file, const std::string& source) {
  constexpr std::string_view kPickle = "/data.pkl";
  const std::vector<ZipEntry> entries = ReadZip(file, source);
  std::map<std::string_view, const ZipEntry*> by_name;
  const ZipEntry* described = nullptr;
  for (const ZipEntry& entry : entries) {
    by_name.emplace(entry.name, &entry);
    if (entry.name.ends_with(kPickle) && entry.name.find('/') == entry.name.size() - kPickle.size()) {
      Check(described == nullptr, "{}: a second pickle in the archive", entry.location);
      described = &entry;
    }
  }
  Check(described != nullptr, "{}: a zip archive without NAME{}, which torch.save writes", source, kPickle);
  const std::string folder = described->name.substr(0, described->name.size() - kPickle.size() + 1);
  Check(!by_name.contains(folder + "constants.pkl"), "{}: a TorchScript program; only weights are supported", source);
  const auto content = [&](const ZipEntry& entry) {
    Check(entry.method == 0 && entry.bytes.size() == entry.size,
          "{}: is compressed, which torch.save never does: save the weights again with torch.save", entry.location);
    // Files saved after torch.serialization.set_crc32_options(False) have no checksums.
    if (entry.checksum != 0) CheckZipChecksum(entry, entry.bytes);
    return entry.bytes;
  };
  if (const auto order = by_name.find(folder + "byteorder"); order != by_name.end()) {
    Check(TextOf(content(*order->second)) == "little", "{}: only little-endian numbers are read",
          order->second->location);
  }
  Described read = {ParseTorchPickle(content(*described), 0, described->location), {}};
  for (const TorchStorage& storage : read.pickle.storages) {
    const auto entry = by_name.find(fmt::format("{}data/{}", folder, storage.key));
    Check(entry != by_name.end(), "{}: storage {} is not in the archive", source, Quoted(storage.key));
    const Bytes bytes = content(*entry->second);
    Check(std::ssize(bytes) == SizeOf(storage), "{}: {} bytes do not fit the pickle's {} elements of {}",
          entry->second->location, bytes.size(), storage.elements, Name(storage.type));
    read.storages.push_back(bytes);
  }
  return read;
}

// The first pickle of the older format is this number, which is too long for a 64-bit integer.
constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::int64_t kProtocol = 1001;  // the value of the second pickle

// Reads a file of the older format. The file begins with pickles of a magic number, a version, the writer's machine,
// the state dict and the storage keys. Then the number of elements and the bytes of each storage follow.
Described ReadSequence(Bytes file, const std::string& source) {
  std::size_t at = 0;
  const auto next = [&] {
    TorchPickle pickle = ParseTorchPickle(file, at, source);
    at += pickle.size;
    return pickle;
  };
  const PickleValue magic = next().value;
  Check(magic.kind == Kind::long_integer && magic.text == kMagic,
        "{}: a pickle that is not from torch.save: weights must be a state dict saved by it", source);
  const PickleValue protocol = next().value;
  Check(protocol.kind == Kind::integer && protocol.number == kProtocol, "{}: not version {} of torch.save's format",
        source, kProtocol);
  const TorchPickle machine = next();
  const PickleValue* const little = machine.Find(machine.value, "little_endian");
  Check(little != nullptr && little->kind == Kind::boolean && little->number == 1,
        "{}: only little-endian numbers are read", source);
  Described read = {next(), {}};
  const TorchPickle keys = next();
  Check(keys.value.kind == Kind::list, "{}: its storage keys are a {} instead of a list", source,
        Name(keys.value.kind));

  std::map<std::string_view, std::size_t> indices;
  for (const TorchStorage& storage : read.pickle.storages) indices.emplace(storage.key, indices.size());
  std::vector<std::optional<Bytes>> found(indices.size());
  for (const PickleValue& key : keys.ItemsOf(keys.value)) {
    const auto index = key.kind == Kind::text ? indices.find(key.text) : indices.end();
    Check(index != indices.end() && !found[index->second], "{}: its storage keys do not match the state dict", source);
    const TorchStorage& storage = read.pickle.storages[index->second];
    Check(file.size() - at >= sizeof(std::uint64_t), "{}: storage {} is missing: the file is truncated", source,
          Quoted(storage.key));
    const std::uint64_t elements = LittleEndian(file, at, sizeof(std::uint64_t));
    at += sizeof(std::uint64_t);
    Check(elements == static_cast<std::uint64_t>(storage.elements),
          "{}: storage {} has {} elements, but {} in the pickle", source, Quoted(storage.key), elements,
          storage.elements);
    Check(file.size() - at >= static_cast<std::uint64_t>(SizeOf(storage)), "{}: storage {} is truncated", source,
          Quoted(storage.key));
    found[index->second] = file.subspan(at, static_cast<std::size_t>(SizeOf(storage)));
    at += found[index->second]->size();
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    Check(found[i].has_value(), "{}: storage {} is missing", source, Quoted(read.pickle.storages[i].key));
    read.storages.push_back(*found[i]);
  }
  Check(at == file.size(), "{}: {} bytes after the last storage belong to no tensor", source, file.size() - at);
  return read;
}

// Returns true if the elements are contiguous and row-major.
bool Contiguous(const TorchTensor& tensor) {
  std::int64_t expected = 1;
  for (int axis = tensor.shape.rank() - 1; axis >= 0; --axis) {
    const std::int64_t size = tensor.shape[axis];
    if (size != 1 && tensor.strides[static_cast<std::size_t>(axis)] != expected) return false;
    expected *= size;
  }
  return true;
}

// Copies the elements in row-major order.
std::vector<std::byte> CopyRows(const TorchTensor& tensor, Bytes storage, std::size_t size) {
  const int rank = tensor.shape.rank();
  std::vector<std::byte> copy(static_cast<std::size_t>(tensor.shape.elements()) * size);
  std::vector<std::int64_t> index(static_cast<std::size_t>(rank));
  std::int64_t from = tensor.offset;
  for (std::size_t to = 0; to < copy.size(); to += size) {
    std::memcpy(copy.data() + to, storage.data() + static_cast<std::size_t>(from) * size, size);
    for (int axis = rank - 1; axis >= 0; --axis) {
      const auto at = static_cast<std::size_t>(axis);
      from += tensor.strides[at];
      if (++index[at] < tensor.shape[axis]) break;
      from -= tensor.strides[at] * tensor.shape[axis];
      index[at] = 0;
    }
  }
  return copy;
}

// Builds the tensors of a file of `file_size` bytes.
class Builder {
 public:
  Builder(const Described& read, std::size_t file_size, const std::string& source)
      : read_(read), room_(file_size + kMoreCopies), source_(source) {}

  void Add(std::string_view name, const TorchTensor& tensor) {
    const TorchStorage& storage = read_.pickle.storages[tensor.storage];
    const Bytes bytes = read_.storages[tensor.storage];
    const auto size = static_cast<std::size_t>(SizeOf(storage.type));
    StoredTensor stored{std::string(name), storage.type, tensor.shape, {}};
    if (tensor.shape.elements() == 0 || Contiguous(tensor)) {
      stored.bytes = bytes.subspan(static_cast<std::size_t>(tensor.offset) * size,
                                   static_cast<std::size_t>(tensor.shape.elements()) * size);
    } else {
      const std::tuple view(tensor.storage, tensor.offset, ToString(tensor.shape), tensor.strides);
      const auto [known, fresh] = copies_.try_emplace(view);
      if (fresh) {
        // Limits the memory, since a view may repeat elements, and many views may share a storage.
        const std::size_t most = room_ / size;
        Check(static_cast<std::uint64_t>(tensor.shape.elements()) <= most,
              "{}: tensor {}: of shape {} with repeated elements, which takes more memory than the file", source_,
              Quoted(name), ToString(tensor.shape));
        known->second = content_.copied.emplace_back(CopyRows(tensor, bytes, size));
        room_ -= known->second.size();
      }
      stored.bytes = known->second;
    }
    content_.tensors.push_back(std::move(stored));
  }

  void Skip(std::string_view name) { content_.others.emplace_back(name); }

  TorchContent Take() && { return std::move(content_); }

 private:
  static constexpr std::size_t kMoreCopies = 1 << 24;  // bytes; sufficient for positions that are expanded over a batch

  const Described& read_;
  std::size_t room_;  // in bytes
  const std::string& source_;
  TorchContent content_;
  std::map<std::tuple<std::size_t, std::int64_t, std::string, std::vector<std::int64_t>>, Bytes> copies_;
};

// Returns true for printable ASCII without spaces, since tensor names consist of Python identifiers.
bool IsName(std::string_view text) {
  constexpr std::size_t kLongest = 1000;
  return !text.empty() && text.size() <= kLongest &&
         std::ranges::all_of(text, [](char character) { return character > ' ' && character <= '~'; });
}

}  // namespace

TorchContent ParseTorchFile(Bytes file, const std::string& source) {
  const std::string_view text = TextOf(file);
  Check(!text.starts_with("version https://git-lfs"),
        "{}: this is a pointer of Git LFS, not the file itself: fetch it with `git lfs pull`", source);
  const bool archive = text.starts_with("PK");
  Check(archive || text.starts_with('\x80'), "{}: neither a zip archive nor a pickle, which torch.save writes", source);
  const Described read = archive ? ReadArchive(file, source) : ReadSequence(file, source);
  const PickleValue& state = read.pickle.value;
  Check(state.kind == Kind::dict, "{}: holds a {} instead of a dict of tensors", source, Name(state.kind));
  Builder builder(read, file.size(), source);
  std::set<std::string_view> names;
  const std::vector<PickleValue>& items = read.pickle.ItemsOf(state);
  for (std::size_t i = 0; i < items.size(); i += 2) {
    const PickleValue &key = items[i], &value = items[i + 1];
    Check(key.kind == Kind::text && IsName(key.text), "{}: the {} {} is not the name of a tensor", source,
          Name(key.kind), Quoted(key.text));
    Check(names.insert(key.text).second, "{}: two values have the name {}", source, Quoted(key.text));
    if (value.kind == Kind::tensor)
      builder.Add(key.text, read.pickle.tensors[static_cast<std::size_t>(value.number)]);
    else
      builder.Skip(key.text);
  }
  TorchContent content = std::move(builder).Take();
  if (content.tensors.empty() && !items.empty()) {
    // A checkpoint may have its state dict under a key, which the error names.
    std::size_t at = 0;
    while (at + 2 < items.size() && items[at + 1].kind != Kind::dict) at += 2;
    Fail("{}: {} is a {} instead of a tensor, and no other value is a tensor: save only the state dict", source,
         Quoted(items[at].text), Name(items[at + 1].kind));
  }
  return content;
}

Safetensors ReadTorchFile(const std::string& path, std::vector<std::string>* others) {
  struct Held {
    MappedFile file;
    TorchContent content;
  };
  const auto held = std::make_shared<Held>(Held{MappedFile(path), {}});
  held->content = ParseTorchFile(held->file.bytes(), path);
  if (others != nullptr) *others = std::move(held->content.others);
  return Safetensors::Of(path, held->content.tensors, held);
}

}  // namespace headlight
