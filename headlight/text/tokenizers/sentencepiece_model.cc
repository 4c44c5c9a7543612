#include "headlight/text/tokenizers/sentencepiece_model.h"

#include <bit>
#include <cmath>
#include <unordered_set>

#include "headlight/base/error.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

// Field numbers of sentencepiece_model.proto that affect the result.
enum ModelField { model_pieces = 1, model_trainer = 2, model_normalizer = 3, model_denormalizer = 5 };
enum PieceField { piece_text = 1, piece_score = 2, piece_type = 3 };
enum TrainerField {
  trainer_model_type = 3,
  trainer_vocabulary_size = 4,
  trainer_whitespace_as_suffix = 24,
  trainer_byte_fallback = 35,
  trainer_unknown_id = 40,
  trainer_bos_id = 41,
  trainer_eos_id = 42,
  trainer_pad_id = 43,
  trainer_unknown_surface = 44,
  trainer_unknown_piece = 45,
};
enum NormalizerField {
  normalizer_name = 1,
  normalizer_charsmap = 2,
  normalizer_dummy_prefix = 3,
  normalizer_extra_whitespaces = 4,
  normalizer_escape = 5,
};
enum ModelType { type_unigram = 1, type_bpe = 2 };
enum WireType { wire_varint = 0, wire_fixed64 = 1, wire_bytes = 2, wire_fixed32 = 5 };

constexpr std::size_t kLongestPiece = 512;                 // bytes; SentencePiece trains pieces of up to 16 characters
constexpr std::size_t kMostPieces = std::size_t{1} << 20;  // the largest known vocabularies have 262,144

// Iterates over the fields of a protocol buffer message.
class Fields {
 public:
  Fields(std::string_view file, std::string_view message, const std::string& name)
      : file_(file), rest_(message), name_(name) {}

  // Moves to the next field. Returns false at the end.
  bool Next() {
    if (rest_.empty()) return false;
    const std::uint64_t tag = Varint();
    number_ = tag >> 3;
    wire_ = tag & 7;
    CheckHere(number_ != 0, "a field without a number");
    switch (wire_) {
      case wire_varint:
        value_ = Varint();
        break;
      case wire_fixed64:
        value_ = Fixed(8);
        break;
      case wire_fixed32:
        value_ = Fixed(4);
        break;
      case wire_bytes: {
        const std::uint64_t size = Varint();
        CheckHere(size <= rest_.size(), "a field is longer than the file");
        bytes_ = Take(size);
        break;
      }
      default:
        CheckHere(false, "a field of unknown kind");
    }
    return true;
  }

  std::uint64_t number() const { return number_; }
  std::uint64_t Value() const { return Expect(wire_varint), value_; }
  bool Flag() const { return Value() != 0; }
  std::string_view Bytes() const { return Expect(wire_bytes), bytes_; }
  float Float() const { return Expect(wire_fixed32), std::bit_cast<float>(static_cast<std::uint32_t>(value_)); }
  Fields Message() const { return Fields(file_, Bytes(), name_); }

 private:
  void CheckHere(bool condition, const char* what) const {
    Check(condition, "{}: byte {}: {}; the file is damaged, or not a SentencePiece model", name_,
          rest_.data() - file_.data(), what);
  }
  void Expect(std::uint64_t wire) const { CheckHere(wire_ == wire, "a field of the wrong kind"); }
  std::string_view Take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::uint64_t Fixed(std::size_t size) {
    CheckHere(size <= rest_.size(), "the file ends within a number");
    std::uint64_t value = 0;
    for (std::size_t index = size; index-- > 0;) value = value << 8 | static_cast<unsigned char>(rest_[index]);
    rest_.remove_prefix(size);
    return value;
  }
  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      CheckHere(!rest_.empty(), "the file ends within a number");
      const std::uint64_t byte = static_cast<unsigned char>(Take(1)[0]);
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    CheckHere(false, "a number of more than ten bytes");
    return 0;
  }

  std::string_view file_, rest_, bytes_;
  const std::string& name_;
  std::uint64_t number_ = 0, wire_ = 0, value_ = 0;
};

SentencePiece ReadPiece(Fields fields, std::size_t index, const std::string& name) {
  SentencePiece piece;
  while (fields.Next()) {
    if (fields.number() == piece_text) piece.text = fields.Bytes();
    if (fields.number() == piece_score) piece.score = fields.Float();
    if (fields.number() == piece_type) {
      const std::uint64_t type = fields.Value();
      constexpr const char* names[] = {"?", "normal", "unknown", "control", "user-defined", "unused", "byte"};
      Check(type >= 1 && type <= 6 && type != 5, "{}: piece {} is {}, which is not supported", name, index,
            type < std::size(names) ? names[type] : "?");
      piece.type = static_cast<SentencePiece::Type>(type);
    }
  }
  return piece;
}

void ReadTrainer(Fields fields, SentencePieceModel& model, const std::string& name) {
  while (fields.Next()) {
    if (fields.number() == trainer_model_type) {
      const std::uint64_t type = fields.Value();
      Check(type == type_unigram || type == type_bpe, "{}: model type {} is not supported, only unigram and BPE are",
            name, type);
      model.algorithm = type == type_bpe ? SubwordAlgorithm::bpe : SubwordAlgorithm::unigram;
    } else if (fields.number() == trainer_whitespace_as_suffix) {
      Check(!fields.Flag(), "{}: treat_whitespace_as_suffix is not supported", name);
    } else if (fields.number() == trainer_byte_fallback) {
      model.byte_fallback = fields.Flag();
    } else if (fields.number() == trainer_unknown_surface) {
      model.unknown_surface = fields.Bytes();
      CheckUtf8(model.unknown_surface, name + ": unk_surface");
    }
  }
}

void ReadNormalizer(Fields fields, SentencePieceModel& model, const std::string& name) {
  while (fields.Next()) {
    if (fields.number() == normalizer_name) model.normalization = fields.Bytes();
    if (fields.number() == normalizer_charsmap) model.charsmap = fields.Bytes();
    if (fields.number() == normalizer_dummy_prefix) model.add_dummy_prefix = fields.Flag();
    if (fields.number() == normalizer_extra_whitespaces) model.remove_extra_whitespaces = fields.Flag();
    if (fields.number() == normalizer_escape) {
      Check(fields.Flag(), "{}: escape_whitespaces = false is not supported", name);
    }
  }
}

void RefuseDenormalizer(Fields fields, const std::string& name) {
  while (fields.Next()) {
    Check(fields.number() != normalizer_charsmap || fields.Bytes().empty(), "{}: a denormalizer is not supported",
          name);
  }
}

// Writes a protocol buffer message, field by field.
class Message {
 public:
  void Value(std::uint64_t number, std::int64_t value) {
    Varint(number << 3 | wire_varint);
    Varint(static_cast<std::uint64_t>(value));
  }
  void Float(std::uint64_t number, float value) {
    Varint(number << 3 | wire_fixed32);
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift));
  }
  void Bytes(std::uint64_t number, std::string_view bytes) {
    Varint(number << 3 | wire_bytes);
    Varint(bytes.size());
    bytes_.append(bytes);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

}  // namespace

SentencePieceModel ParseSentencePieceModel(std::string_view bytes, const std::string& name) {
  SentencePieceModel model;
  Fields fields(bytes, bytes, name);
  while (fields.Next()) {
    if (fields.number() == model_pieces) {
      Check(model.pieces.size() < kMostPieces, "{}: it has more than {} pieces", name, kMostPieces);
      model.pieces.push_back(ReadPiece(fields.Message(), model.pieces.size(), name));
    } else if (fields.number() == model_trainer) {
      ReadTrainer(fields.Message(), model, name);
    } else if (fields.number() == model_normalizer) {
      ReadNormalizer(fields.Message(), model, name);
    } else if (fields.number() == model_denormalizer) {
      RefuseDenormalizer(fields.Message(), name);
    }
  }
  CheckPieces(model, name);
  return model;
}

std::string SerializeSentencePieceModel(const SentencePieceModel& model) {
  Ensure(!model.byte_fallback, "SerializeSentencePieceModel: byte fallback is not written");
  Message file, trainer, normalizer;
  std::int64_t unknown = -1, bos = -1, eos = -1, pad = -1;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const SentencePiece& piece = model.pieces[id];
    if (piece.type == SentencePiece::Type::unknown) unknown = id;
    if (piece.text == "<s>") bos = id;
    if (piece.text == "</s>") eos = id;
    if (piece.text == "<pad>") pad = id;
    Message message;
    message.Bytes(piece_text, piece.text);
    message.Float(piece_score, piece.score);
    message.Value(piece_type, static_cast<int>(piece.type));
    file.Bytes(model_pieces, message.bytes());
  }
  Ensure(unknown >= 0, "SerializeSentencePieceModel: no unknown piece");
  trainer.Value(trainer_model_type, model.algorithm == SubwordAlgorithm::bpe ? type_bpe : type_unigram);
  trainer.Value(trainer_vocabulary_size, model.pieces.size());
  trainer.Value(trainer_unknown_id, unknown);
  trainer.Value(trainer_bos_id, bos);
  trainer.Value(trainer_eos_id, eos);
  trainer.Value(trainer_pad_id, pad);
  trainer.Bytes(trainer_unknown_surface, model.unknown_surface);
  trainer.Bytes(trainer_unknown_piece, model.pieces[unknown].text);
  file.Bytes(model_trainer, trainer.bytes());
  normalizer.Bytes(normalizer_name, model.normalization);
  normalizer.Bytes(normalizer_charsmap, model.charsmap);
  normalizer.Value(normalizer_dummy_prefix, model.add_dummy_prefix);
  normalizer.Value(normalizer_extra_whitespaces, model.remove_extra_whitespaces);
  file.Bytes(model_normalizer, normalizer.bytes());
  return file.bytes();
}

void CheckPieces(const SentencePieceModel& model, const std::string& name) {
  std::unordered_set<std::string_view> seen;
  std::size_t unknown = 0, normal = 0;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const auto& [text, score, type] = model.pieces[id];
    Check(!text.empty() && text.size() <= kLongestPiece, "{}: piece {} has {} bytes, 1 to {} are supported", name, id,
          text.size(), kLongestPiece);
    Check(text.find('\0') == std::string::npos, "{}: piece {} contains a NUL", name, id);
    CheckUtf8(text, fmt::format("{}: piece {}", name, id));
    Check(std::isfinite(score), "{}: piece {} has the score {}", name, id, score);
    Check(seen.insert(text).second, "{}: piece {} repeats \"{}\"", name, id, text);
    unknown += type == SentencePiece::Type::unknown;
    normal += type == SentencePiece::Type::normal;
  }
  Check(unknown == 1, "{}: {} unknown pieces, exactly one is needed; the file is damaged, or not a SentencePiece model",
        name, unknown);
  Check(normal > 0, "{}: no piece to segment text with", name);
}

}  // namespace headlight
