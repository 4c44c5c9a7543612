#include "headlight/io/torch_pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/io/zip.h"

namespace headlight {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = PickleValue::Kind;

constexpr std::int64_t kMostValues = 1 << 22;  // maximum number of pushed or memoized values; a tensor uses about 35

// Opcodes, with the lower-case names of Python's pickletools after op_.
enum Opcode : std::uint8_t {
  op_mark = '(',
  op_stop = '.',
  op_pop = '0',
  op_pop_mark = '1',
  op_binfloat = 'G',
  op_binint = 'J',
  op_binint1 = 'K',
  op_binint2 = 'M',
  op_none = 'N',
  op_binpersid = 'Q',
  op_reduce = 'R',
  op_binstring = 'T',
  op_short_binstring = 'U',
  op_binunicode = 'X',
  op_empty_list = ']',
  op_append = 'a',
  op_build = 'b',
  op_global = 'c',
  op_appends = 'e',
  op_binget = 'h',
  op_long_binget = 'j',
  op_binput = 'q',
  op_long_binput = 'r',
  op_setitem = 's',
  op_tuple = 't',
  op_empty_tuple = ')',
  op_setitems = 'u',
  op_empty_dict = '}',
  op_proto = 0x80,
  op_tuple1 = 0x85,
  op_tuple2 = 0x86,
  op_tuple3 = 0x87,
  op_newtrue = 0x88,
  op_newfalse = 0x89,
  op_long1 = 0x8a,
  op_short_binunicode = 0x8c,
  op_stack_global = 0x93,
  op_memoize = 0x94,
  op_frame = 0x95,
};

// The name of an unsupported opcode, for error messages.
struct OpcodeName {
  std::uint8_t code;
  const char* name;
};
constexpr OpcodeName kRefused[] = {{'2', "DUP"},
                                   {'B', "BINBYTES"},
                                   {'C', "SHORT_BINBYTES"},
                                   {'F', "FLOAT"},
                                   {'I', "INT"},
                                   {'L', "LONG"},
                                   {'P', "PERSID"},
                                   {'S', "STRING"},
                                   {'V', "UNICODE"},
                                   {'d', "DICT"},
                                   {'g', "GET"},
                                   {'i', "INST"},
                                   {'l', "LIST"},
                                   {'o', "OBJ"},
                                   {'p', "PUT"},
                                   {0x81, "NEWOBJ"},
                                   {0x82, "EXT1"},
                                   {0x83, "EXT2"},
                                   {0x84, "EXT4"},
                                   {0x8b, "LONG4"},
                                   {0x8d, "BINUNICODE8"},
                                   {0x8e, "BINBYTES8"},
                                   {0x8f, "EMPTY_SET"},
                                   {0x90, "ADDITEMS"},
                                   {0x91, "FROZENSET"},
                                   {0x92, "NEWOBJ_EX"},
                                   {0x96, "BYTEARRAY8"},
                                   {0x97, "NEXT_BUFFER"},
                                   {0x98, "READONLY_BUFFER"}};

// The functions that op_reduce may call. No Python code is run.
enum class Function : std::uint8_t { ordered_dict, tensor, tensor_v2, parameter, parameter_with_state };

struct AllowedName {
  std::string_view name;
  PickleValue value;
};
PickleValue Value(Kind kind, std::int64_t number = 0, std::string_view text = {}) { return {kind, number, text}; }
PickleValue Value(Function function) { return Value(Kind::function, static_cast<std::int64_t>(function)); }
PickleValue Value(StoredType type) { return Value(Kind::storage_type, static_cast<std::int64_t>(type)); }

const AllowedName kAllowed[] = {
    {"collections.OrderedDict", Value(Function::ordered_dict)},
    {"torch._utils._rebuild_tensor", Value(Function::tensor)},
    {"torch._utils._rebuild_tensor_v2", Value(Function::tensor_v2)},
    {"torch._utils._rebuild_parameter", Value(Function::parameter)},
    {"torch._utils._rebuild_parameter_with_state", Value(Function::parameter_with_state)},
    {"torch.FloatStorage", Value(StoredType::f32)},
    {"torch.HalfStorage", Value(StoredType::f16)},
    {"torch.BFloat16Storage", Value(StoredType::bf16)},
    {"torch.DoubleStorage", Value(StoredType::f64)},
    {"torch.LongStorage", Value(StoredType::i64)},
    {"torch.IntStorage", Value(StoredType::i32)},
    {"torch.ShortStorage", Value(StoredType::i16)},
    {"torch.CharStorage", Value(StoredType::i8)},
    {"torch.ByteStorage", Value(StoredType::u8)},
    {"torch.BoolStorage", Value(StoredType::boolean)},
};

class Machine {
 public:
  Machine(Bytes bytes, std::size_t begin, const std::string& source)
      : bytes_(bytes), begin_(begin), at_(begin), source_(source) {}

  TorchPickle Run() && {
    while (true) {
      opcode_at_ = at_;
      const auto opcode = static_cast<std::uint8_t>(Take(1));
      if (opcode == op_stop) break;
      Step(opcode);
    }
    Require(marks_.empty() && stack_.size() == 1, "it ends with {} values on the stack instead of one", stack_.size());
    read_.value = stack_.back();
    read_.size = at_ - begin_;
    return std::move(read_);
  }

 private:
  template <typename... Args>
  void Require(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) [[unlikely]]
      Fail("{}: byte {} of the pickle: {}", source_, opcode_at_ - begin_,
           fmt::format(format, std::forward<Args>(args)...));
  }

  // Reads the next little-endian number of `size` bytes.
  std::uint64_t Take(std::size_t size) {
    Require(bytes_.size() - at_ >= size, "the pickle is truncated");
    at_ += size;
    return LittleEndian(bytes_, at_ - size, size);
  }
  std::string_view TakeText(std::uint64_t size) {
    Require(bytes_.size() - at_ >= size, "{} bytes of text exceed the file", size);
    at_ += size;
    return {reinterpret_cast<const char*>(bytes_.data()) + at_ - size, size};
  }
  std::string_view TakeLine() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_, bytes_.size() - at_);
    constexpr std::size_t kLongest = 1000;
    const std::size_t length = rest.substr(0, kLongest).find('\n');
    Require(length != rest.npos, "unterminated name");
    at_ += length + 1;
    return rest.substr(0, length);
  }

  void Push(PickleValue value) {
    Require(++pushed_ <= kMostValues, "more than {} values", kMostValues);
    stack_.push_back(value);
  }
  void PushItems(Kind kind, std::vector<PickleValue> items) {
    read_.items.push_back(std::move(items));
    Push(Value(kind, std::ssize(read_.items) - 1));
  }
  // Throws Error unless there are `count` values above the topmost mark.
  void RequireValues(std::size_t count) const {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    Require(stack_.size() - floor >= count, "too few values are on the stack");
  }
  PickleValue Pop() {
    RequireValues(1);
    const PickleValue value = stack_.back();
    stack_.pop_back();
    return value;
  }
  std::vector<PickleValue> PopCount(std::size_t count) {
    RequireValues(count);
    std::vector<PickleValue> values(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return values;
  }
  std::vector<PickleValue> PopToMark() {
    Require(!marks_.empty(), "no mark is on the stack");
    std::vector<PickleValue> values = PopCount(stack_.size() - marks_.back());
    marks_.pop_back();
    return values;
  }
  // Adds `values` to the list or dict at the top of the stack.
  void Extend(Kind kind, const std::vector<PickleValue>& values) {
    RequireValues(1);
    const PickleValue& top = stack_.back();
    Require(top.kind == kind, "items of a {} are added to a {}", Name(kind), Name(top.kind));
    Require(kind != Kind::dict || values.size() % 2 == 0, "a key without a value");
    std::vector<PickleValue>& items = read_.items[static_cast<std::size_t>(top.number)];
    items.insert(items.end(), values.begin(), values.end());
  }

  void Memoize(std::uint64_t index) {
    RequireValues(1);
    Require(++pushed_ <= kMostValues, "more than {} values", kMostValues);
    memo_[index] = stack_.back();
  }
  void Recall(std::uint64_t index) {
    const auto found = memo_.find(index);
    Require(found != memo_.end(), "value {} of the memo is read before it is written", index);
    Push(found->second);
  }

  void PushGlobal(std::string_view module, std::string_view name) {
    const std::string whole = fmt::format("{}.{}", module, name);
    const auto* const found = std::ranges::find(kAllowed, whole, &AllowedName::name);
    Require(found != std::end(kAllowed),
            "{} is not allowed: only a dict of plain tensors is supported, and no Python code is run", Quoted(whole));
    Push(found->value);
  }

  void PushInteger(std::string_view little_endian) {
    if (little_endian.size() > sizeof(std::int64_t)) return Push(Value(Kind::long_integer, 0, little_endian));
    std::uint64_t bits = little_endian.empty() || static_cast<signed char>(little_endian.back()) >= 0 ? 0 : ~0ULL;
    std::memcpy(&bits, little_endian.data(), little_endian.size());
    Push(Value(Kind::integer, static_cast<std::int64_t>(bits)));
  }

  // Pushes the storage for ("storage", its type, its key, the device, its number of elements[, None]).
  void PushStorage(const PickleValue& id) {
    Require(id.kind == Kind::tuple, "a {} instead of a storage", Name(id.kind));
    const std::vector<PickleValue>& items = read_.ItemsOf(id);
    const Kind kinds[] = {Kind::text, Kind::storage_type, Kind::text, Kind::text, Kind::integer, Kind::none};
    const bool as_expected = (items.size() == 5 || items.size() == 6) && items[0].text == "storage" &&
                             std::equal(items.begin(), items.end(), kinds,
                                        [](const PickleValue& item, Kind kind) { return item.kind == kind; });
    Require(as_expected, "a storage is not described by its type, key, device and size");
    const TorchStorage storage = {static_cast<StoredType>(items[1].number), items[2].text, items[4].number};
    Require(storage.elements >= 0 && storage.elements <= (std::int64_t{1} << 48), "storage {} has {} elements",
            Quoted(storage.key), storage.elements);
    const auto [known, fresh] = storages_.try_emplace(storage.key, read_.storages.size());
    if (fresh) read_.storages.push_back(storage);
    const TorchStorage& first = read_.storages[known->second];
    Require(first.type == storage.type && first.elements == storage.elements,
            "storage {} is described twice, as {} of {} and {} of {}", Quoted(storage.key), first.elements,
            Name(first.type), storage.elements, Name(storage.type));
    Push(Value(Kind::storage, static_cast<std::int64_t>(known->second)));
  }

  std::vector<std::int64_t> Integers(const PickleValue& tuple) const {
    Require(tuple.kind == Kind::tuple, "the sizes of a tensor are a {}", Name(tuple.kind));
    std::vector<std::int64_t> numbers;
    for (const PickleValue& item : read_.ItemsOf(tuple)) {
      Require(item.kind == Kind::integer, "the sizes of a tensor hold a {}", Name(item.kind));
      numbers.push_back(item.number);
    }
    return numbers;
  }

  // Pushes a tensor. Its arguments are a storage, an offset, sizes and strides. Further arguments are for training.
  void PushTensor(const std::vector<PickleValue>& arguments, std::size_t least, std::size_t most) {
    Require(arguments.size() >= least && arguments.size() <= most, "a tensor of {} arguments", arguments.size());
    Require(arguments[0].kind == Kind::storage, "a tensor's storage is a {}", Name(arguments[0].kind));
    Require(arguments[1].kind == Kind::integer, "a tensor's offset is a {}", Name(arguments[1].kind));
    // This argument has the flags of a view, such as {"neg": True}.
    Require(arguments.size() < 7 || (arguments[6].kind == Kind::dict && read_.ItemsOf(arguments[6]).empty()),
            "a tensor whose numbers are negated or conjugated when they are read is not supported");
    TorchTensor tensor = {
        static_cast<std::size_t>(arguments[0].number), arguments[1].number, {}, Integers(arguments[3])};
    try {
      tensor.shape = Shape(Integers(arguments[2]));
    } catch (const Error& error) {
      Require(false, "{}", error.what());
    }
    Require(std::ssize(tensor.strides) == tensor.shape.rank(), "a tensor of {} axes has {} strides",
            tensor.shape.rank(), tensor.strides.size());
    const TorchStorage& storage = read_.storages[tensor.storage];
    // Computes the index of the last element, as long as it is inside the storage.
    bool inside = tensor.offset >= 0 && tensor.offset <= storage.elements;
    std::int64_t last = tensor.offset;
    for (int axis = 0; axis < tensor.shape.rank() && tensor.shape.elements() > 0; ++axis) {
      const std::int64_t stride = tensor.strides[static_cast<std::size_t>(axis)];
      std::int64_t step = 0;
      inside = inside && stride >= 0 && !__builtin_mul_overflow(stride, tensor.shape[axis] - 1, &step) &&
               step < storage.elements - last;
      last += inside ? step : 0;
    }
    inside = inside && (tensor.shape.elements() == 0 || last < storage.elements);
    Require(inside, "a tensor of shape {} at {} with strides [{}] is outside its storage of {} elements",
            ToString(tensor.shape), tensor.offset, fmt::join(tensor.strides, ", "), storage.elements);
    read_.tensors.push_back(std::move(tensor));
    Push(Value(Kind::tensor, std::ssize(read_.tensors) - 1));
  }

  // Pushes a dict, which is empty or built from a list of pairs, as Python 2 writes it.
  void PushDict(const std::vector<PickleValue>& arguments) {
    std::vector<PickleValue> items;
    Require(arguments.size() <= 1, "a dict of {} arguments", arguments.size());
    if (arguments.size() == 1) {
      Require(arguments[0].kind == Kind::list, "a dict of a {}", Name(arguments[0].kind));
      for (const PickleValue& pair : read_.ItemsOf(arguments[0])) {
        Require((pair.kind == Kind::list || pair.kind == Kind::tuple) && read_.ItemsOf(pair).size() == 2,
                "a dict of a list whose items are not pairs");
        items.insert(items.end(), read_.ItemsOf(pair).begin(), read_.ItemsOf(pair).end());
      }
      pushed_ += std::ssize(items);  // limits repeated reads of a list
    }
    PushItems(Kind::dict, std::move(items));
  }

  void Call(const PickleValue& function, const PickleValue& tuple) {
    Require(function.kind == Kind::function, "a {} is called", Name(function.kind));
    Require(tuple.kind == Kind::tuple, "the arguments of a function are a {}", Name(tuple.kind));
    const std::vector<PickleValue>& arguments = read_.ItemsOf(tuple);
    switch (static_cast<Function>(function.number)) {
      case Function::ordered_dict:
        return PushDict(arguments);
      case Function::tensor:
        return PushTensor(arguments, 4, 4);
      case Function::tensor_v2:
        return PushTensor(arguments, 6, 7);
      case Function::parameter:
      case Function::parameter_with_state:
        Require(arguments.size() >= 3 && arguments.size() <= 4 && arguments[0].kind == Kind::tensor,
                "a parameter without a tensor");
        return Push(arguments[0]);
    }
  }

  void Step(std::uint8_t opcode) {
    switch (opcode) {
      case op_proto: {
        const std::uint64_t protocol = Take(1);
        return Require(protocol >= 2 && protocol <= 5, "protocol {}; 2 to 5 are supported", protocol);
      }
      case op_frame:
        Take(8);  // the size of the frame, which is not needed
        return;
      case op_mark:
        Require(++pushed_ <= kMostValues, "more than {} values", kMostValues);
        return marks_.push_back(stack_.size());
      case op_pop:
        Pop();
        return;
      case op_pop_mark:
        PopToMark();
        return;
      case op_none:
        return Push(Value(Kind::none));
      case op_newtrue:
        return Push(Value(Kind::boolean, 1));
      case op_newfalse:
        return Push(Value(Kind::boolean, 0));
      case op_binint:
        return PushInteger(TakeText(4));
      case op_binint1:
        return Push(Value(Kind::integer, static_cast<std::int64_t>(Take(1))));
      case op_binint2:
        return Push(Value(Kind::integer, static_cast<std::int64_t>(Take(2))));
      case op_long1:
        return PushInteger(TakeText(Take(1)));
      case op_binfloat:
        TakeText(8);  // ignored, since a state dict has no number outside its storages
        return Push(Value(Kind::real));
      case op_binstring:
      case op_binunicode:
        return Push(Value(Kind::text, 0, TakeText(Take(4))));
      case op_short_binstring:
      case op_short_binunicode:
        return Push(Value(Kind::text, 0, TakeText(Take(1))));
      case op_empty_tuple:
        return PushItems(Kind::tuple, {});
      case op_tuple1:
      case op_tuple2:
      case op_tuple3:
        return PushItems(Kind::tuple, PopCount(opcode - op_tuple1 + 1U));
      case op_tuple:
        return PushItems(Kind::tuple, PopToMark());
      case op_empty_list:
        return PushItems(Kind::list, {});
      case op_append:
        return Extend(Kind::list, {Pop()});
      case op_appends:
        return Extend(Kind::list, PopToMark());
      case op_empty_dict:
        return PushItems(Kind::dict, {});
      case op_setitem:
        return Extend(Kind::dict, PopCount(2));
      case op_setitems:
        return Extend(Kind::dict, PopToMark());
      case op_binput:
        return Memoize(Take(1));
      case op_long_binput:
        return Memoize(Take(4));
      case op_memoize:
        return Memoize(memo_.size());
      case op_binget:
        return Recall(Take(1));
      case op_long_binget:
        return Recall(Take(4));
      case op_global: {
        const std::string_view module = TakeLine();
        return PushGlobal(module, TakeLine());
      }
      case op_stack_global: {
        const std::vector<PickleValue> names = PopCount(2);
        Require(names[0].kind == Kind::text && names[1].kind == Kind::text, "a name is a {}", Name(names[0].kind));
        return PushGlobal(names[0].text, names[1].text);
      }
      case op_binpersid:
        return PushStorage(Pop());
      case op_reduce: {
        const std::vector<PickleValue> call = PopCount(2);
        return Call(call[0], call[1]);
      }
      case op_build: {
        // Drops the attribute _metadata of a state dict. This attribute has versions of modules, which do not change
        // tensors.
        Pop();
        RequireValues(1);
        const Kind kind = stack_.back().kind;
        return Require(kind == Kind::dict || kind == Kind::tensor, "a {} is given attributes", Name(kind));
      }
      default: {
        const auto* const refused = std::ranges::find(kRefused, opcode, &OpcodeName::code);
        if (refused == std::end(kRefused))
          Require(false, "0x{:02x} is not an opcode: damaged, or not a pickle", opcode);
        Require(false, "the opcode {} is not supported, since torch.save does not write it for tensors", refused->name);
      }
    }
  }

  Bytes bytes_;
  std::size_t begin_, at_, opcode_at_ = 0;
  const std::string& source_;
  TorchPickle read_;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack at the marks
  std::unordered_map<std::uint64_t, PickleValue> memo_;
  std::map<std::string_view, std::size_t> storages_;  // indices by key
  std::int64_t pushed_ = 0;
};

}  // namespace

const char* Name(Kind kind) {
  static constexpr const char* names[] = {"None", "bool", "int",  "int",          "float",   "str",   "tuple",
                                          "list", "dict", "name", "storage type", "storage", "tensor"};
  return names[static_cast<std::size_t>(kind)];
}

const PickleValue* TorchPickle::Find(const PickleValue& dict, std::string_view key) const {
  if (dict.kind != Kind::dict) return nullptr;
  const std::vector<PickleValue>& all = ItemsOf(dict);
  for (std::size_t i = 0; i < all.size(); i += 2)
    if (all[i].kind == Kind::text && all[i].text == key) return &all[i + 1];
  return nullptr;
}

TorchPickle ParseTorchPickle(Bytes bytes, std::size_t begin, const std::string& source) {
  return Machine(bytes, begin, source).Run();
}

}  // namespace headlight
