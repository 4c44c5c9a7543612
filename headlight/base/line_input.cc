#include "headlight/base/line_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {

namespace {

constexpr std::size_t kReadBytes = 64 * 1024;  // bytes per read

// Only one reader may use standard input, because two readers would each get only some of its lines.
std::atomic<bool> standard_input_taken = false;

int Acquire(const std::string& path) {
  if (path == "-") {
    Check(!standard_input_taken.exchange(true), "standard input (-) can only be one of the files");
    return STDIN_FILENO;
  }
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  Check(descriptor >= 0, "{}: cannot open: {}", path, std::strerror(errno));
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    close(descriptor);
    Fail("{}: a folder, not a text file", path);
  }
  return descriptor;
}

void Release(int descriptor) {
  if (descriptor == STDIN_FILENO)
    standard_input_taken = false;
  else
    close(descriptor);
}

}  // namespace

class ByteInput::State {
 public:
  State(int descriptor, bool owned, std::string name) : descriptor_(descriptor), owned_(owned), name_(std::move(name)) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
    const off_t begin = lseek(descriptor, 0, SEEK_CUR);
    if (begin >= 0 && status.st_size > begin) size_ = static_cast<double>(status.st_size - begin);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (gzip_) inflateEnd(&stream_);
    if (owned_) Release(descriptor_);
  }

  std::size_t Read(char* to, std::size_t size) {
    if (!std::exchange(begun_, true)) Begin();
    if (gzip_) return Inflate(to, size);
    if (held_ == 0) return ReadSome(to, size);
    const std::size_t taken = std::min(size, held_);
    std::memcpy(to, compressed_.data(), taken);
    Drop(taken);
    return taken;
  }

  double Share(std::size_t unread) const {
    if (size_ == 0) return -1;
    const double waiting = static_cast<double>(held_) + (gzip_ ? 0 : static_cast<double>(unread));
    return std::clamp((bytes_read_ - waiting) / size_, 0.0, 1.0);
  }

  const std::string& name() const { return name_; }

 private:
  static constexpr std::array<unsigned char, 2> kMagic = {0x1f, 0x8b};

  void Begin() {
    // Waits for a second byte only if the first byte is gzip's first byte, so that an empty line at a terminal is
    // returned at once.
    while (held_ < 2 && (held_ == 0 || compressed_[0] == kMagic[0]) && Receive() > 0) continue;
    if (held_ < 2 || !std::equal(kMagic.begin(), kMagic.end(), compressed_.begin())) return;
    constexpr int kGzipWindow = 15 + 16;
    gzip_ = inflateInit2(&stream_, kGzipWindow) == Z_OK;
    Ensure(gzip_, "{}: zlib cannot begin", name_);
  }

  std::size_t ReadSome(void* to, std::size_t size) {
    for (;;) {
      const ssize_t got = read(descriptor_, to, size);
      if (got >= 0) {
        bytes_read_ += static_cast<double>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) Fail("{}: cannot read: {}", name_, std::strerror(errno));
    }
  }

  std::size_t Receive() {
    const std::size_t got = ReadSome(compressed_.data() + held_, compressed_.size() - held_);
    held_ += got;
    return got;
  }

  void Drop(std::size_t count) {
    held_ -= count;
    std::memmove(compressed_.data(), compressed_.data() + count, held_);
  }

  std::size_t Inflate(char* to, std::size_t size) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (held_ == 0 && Receive() == 0) {
        Check(ended_, "{}: the gzip data ends too early: the file is truncated", name_);
        return 0;
      }
      if (std::exchange(ended_, false)) inflateReset(&stream_);  // another gzip member may follow
      stream_.next_in = compressed_.data();
      stream_.avail_in = static_cast<uInt>(held_);
      const int result = inflate(&stream_, Z_NO_FLUSH);
      Check(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR, "{}: damaged gzip data: {}", name_,
            stream_.msg != nullptr ? stream_.msg : "zlib does not say why");
      ended_ = result == Z_STREAM_END;
      Drop(held_ - stream_.avail_in);
    }
    return size - stream_.avail_out;
  }

  int descriptor_;
  bool owned_;
  std::string name_;
  bool begun_ = false, gzip_ = false;
  bool ended_ = false;  // true after the end of a gzip member, until another one begins
  z_stream stream_{};
  std::array<unsigned char, kReadBytes> compressed_;
  std::size_t held_ = 0;              // bytes at the front of compressed_
  double size_ = 0, bytes_read_ = 0;  // for a regular file, from the initial offset; size_ is 0 if unknown
};

ByteInput::ByteInput(const std::string& path)
    : state_(std::make_unique<State>(Acquire(path), true, path == "-" ? "standard input" : path)) {}

ByteInput::ByteInput(int descriptor, std::string name)
    : state_(std::make_unique<State>(descriptor, false, std::move(name))) {}

ByteInput::ByteInput(ByteInput&&) noexcept = default;
ByteInput::~ByteInput() = default;

std::size_t ByteInput::Read(char* to, std::size_t size) { return state_->Read(to, size); }
double ByteInput::Share(std::size_t unread) const { return state_->Share(unread); }
const std::string& ByteInput::name() const { return state_->name(); }

std::string ReadInflated(const std::string& path, std::size_t limit) {
  ByteInput input(path);
  std::string bytes;
  for (std::size_t held = 0;;) {
    bytes.resize(held + kReadBytes);
    const std::size_t got = input.Read(bytes.data() + held, kReadBytes);
    held += got;
    Check(held <= limit, "{}: longer than {} bytes", input.name(), limit);
    if (got > 0) continue;
    bytes.resize(held);
    return bytes;
  }
}

std::optional<std::string_view> LineInput::Next() {
  for (std::size_t searched = begin_;;) {
    if (const std::size_t newline = std::string_view(buffer_.data(), end_).find('\n', searched);
        newline != std::string_view::npos) {
      if (!std::exchange(skipping_, false)) return TakeLine(newline - begin_, newline - begin_ + 1);
      searched = begin_ = newline + 1;
      continue;
    }
    if (skipping_) begin_ = end_;
    if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    searched = end_;
    if (end_ > kMaxLineBytes + 1) {
      skipping_ = true;
      ++line_number_;
      FailTooLong();
    }
    if (ReadMore() == 0) {
      if (end_ == 0) return std::nullopt;
      return TakeLine(end_, end_);
    }
  }
}

std::size_t LineInput::ReadMore() {
  buffer_.resize(std::max(buffer_.size(), end_ + kReadBytes));
  const std::size_t got = input_.Read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  return got;
}

bool LineInput::BeginsWith(std::string_view bytes) {
  while (true) {
    const std::string_view held(buffer_.data() + begin_, end_ - begin_);
    if (held.size() >= bytes.size()) return held.starts_with(bytes);
    if (!bytes.starts_with(held) || ReadMore() == 0) return false;
  }
}

void LineInput::FailTooLong() const {
  Fail("{}: line {}: longer than {} bytes: not a text file", name(), line_number_, kMaxLineBytes);
}

std::string_view LineInput::TakeLine(std::size_t size, std::size_t with_end) {
  std::string_view line(buffer_.data() + begin_, size);
  begin_ += with_end;
  ++line_number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > kMaxLineBytes) FailTooLong();
  if (marks_ == Marks::skipped) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (line_number_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    line.remove_prefix(std::min(line.find_first_not_of('\0'), line.size()));
  }
  const std::size_t nul = line.find('\0');
  Check(nul == std::string_view::npos, "{}: line {}: byte {} is a NUL, which no text has", name(), line_number_, nul);
  return line;
}

}  // namespace headlight
