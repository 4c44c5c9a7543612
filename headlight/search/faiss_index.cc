#include "headlight/search/faiss_index.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/kernels/dot_rows.h"
#include "headlight/search/best_rows.h"

namespace headlight {
namespace {

// The library's own reader is not made for files of strangers, and links a BLAS. Numbers are little-endian and not
// aligned: a header has 33 bytes.
constexpr std::int32_t kInnerProduct = 0, kL2 = 1, kMostDimensions = 1 << 16;
constexpr std::size_t kBlockBytes = 1 << 20;  // of vectors that are copied to be aligned, and stay in the cache

using Bytes = std::span<const std::byte>;

// Element `index` of numbers that are not aligned.
template <typename T>
T ElementOf(Bytes bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

class Reader {
 public:
  explicit Reader(const MappedFile& file) : file_(file) {}

  // `count` elements of `size` bytes.
  Bytes Take(std::uint64_t count, std::uint64_t size, const char* what) {
    const std::uint64_t rest = file_.bytes().size() - at_;
    Check(count <= rest / size, "{} of {} x {} bytes, and the file has {} more", what, count, size, rest);
    const Bytes taken = file_.bytes().subspan(at_, count * size);
    at_ += taken.size();
    return taken;
  }
  template <typename T>
  T Number(const char* what) {
    return ElementOf<T>(Take(1, sizeof(T), what), 0);
  }
  // A vector of elements behind their number.
  Bytes Vector(std::uint64_t size, const char* what) { return Take(Number<std::uint64_t>(what), size, what); }
  std::string Kind(const char* what) {
    const Bytes letters = Take(4, 1, what);
    return {reinterpret_cast<const char*>(letters.data()), 4};
  }

  template <typename... Args>
  void Check(bool holds, fmt::format_string<Args...> rule, Args&&... args) const {
    if (!holds) Fail("{}: byte {}: {}", file_.path(), at_, fmt::format(rule, std::forward<Args>(args)...));
  }
  bool at_end() const { return at_ == file_.bytes().size(); }

 private:
  const MappedFile& file_;
  std::size_t at_ = 0;
};

struct Header {
  std::int64_t dimension = 0, vectors = 0;
  std::int32_t metric = kInnerProduct;
};

Header ReadHeader(Reader& reader) {
  Header header;
  header.dimension = reader.Number<std::int32_t>("the dimension");
  header.vectors = reader.Number<std::int64_t>("the number of vectors");
  reader.Take(2, sizeof(std::int64_t), "the header");  // not used
  const auto trained = reader.Number<std::uint8_t>("the header");
  header.metric = reader.Number<std::int32_t>("the metric");
  reader.Check(header.dimension >= 1 && header.dimension <= kMostDimensions && header.vectors >= 0,
               "{} vectors of {} numbers, which must be 1 to {}", header.vectors, header.dimension, kMostDimensions);
  reader.Check(trained == 1, "the index was not trained");
  return header;
}

// Vectors one after another, of which each has an id, or where there are none the number of its row.
struct List {
  Bytes vectors, ids;
  std::int64_t first = 0, rows = 0;  // of the first vector among all
};

struct Flat {
  Header header;
  Bytes vectors;
};

Flat ReadFlat(Reader& reader) {
  Flat flat{ReadHeader(reader), {}};
  flat.vectors = reader.Vector(sizeof(float), "the vectors");
  const std::size_t row = static_cast<std::size_t>(flat.header.dimension) * sizeof(float);
  reader.Check(flat.vectors.size() % row == 0 && std::cmp_equal(flat.vectors.size() / row, flat.header.vectors),
               "{} bytes of vectors, where there are {} of {} numbers", flat.vectors.size(), flat.header.vectors,
               flat.header.dimension);
  return flat;
}

// The sizes of lists, all or those that are not empty with their numbers.
std::vector<std::uint64_t> ReadSizes(Reader& reader, std::uint64_t lists) {
  std::vector<std::uint64_t> sizes(lists);
  const std::string kind = reader.Kind("the sizes of lists");
  const Bytes numbers = reader.Vector(sizeof(std::uint64_t), "the sizes of lists");
  const std::size_t count = numbers.size() / sizeof(std::uint64_t);
  if (kind == "full") {
    reader.Check(count == lists, "{} sizes of {} lists", count, lists);
    for (std::size_t i = 0; i < count; ++i) sizes[i] = ElementOf<std::uint64_t>(numbers, i);
    return sizes;
  }
  reader.Check(kind == "sprs" && count % 2 == 0, "sizes of lists \"{}\" must be \"full\" or pairs, \"sprs\"", kind);
  for (std::size_t i = 0; i < count; i += 2) {
    const auto list = ElementOf<std::uint64_t>(numbers, i);
    reader.Check(list < lists, "the size of list {}, and there are {}", list, lists);
    sizes[list] = ElementOf<std::uint64_t>(numbers, i + 1);
  }
  return sizes;
}

}  // namespace

struct FaissIndex::State {
  MappedFile file;
  Header header;
  std::vector<List> lists;
  std::vector<float> centroids;  // [lists, dimension]; none of a flat index
  bool nearest_by_l2 = false;    // and not by inner product
  std::optional<Bytes> ids;      // of an IndexIDMap: in the place of the numbers of rows

  void Add(List list) {
    list.first = lists.empty() ? 0 : lists.back().first + lists.back().rows;
    lists.push_back(list);
  }

  void ReadInverted(Reader& reader) {
    header = ReadHeader(reader);
    const auto count = reader.Number<std::uint64_t>("the number of lists");
    reader.Number<std::uint64_t>("the number of lists to search");
    const std::string quantizer = reader.Kind("the quantizer");
    reader.Check(quantizer == "IxFI" || quantizer == "IxF2", "the quantizer is \"{}\", and must be a flat index",
                 quantizer);
    const Flat flat = ReadFlat(reader);
    nearest_by_l2 = flat.header.metric == kL2;
    reader.Check(flat.header.dimension == header.dimension && std::cmp_equal(flat.header.vectors, count),
                 "{} lists of vectors of {} numbers, and {} centroids of {}", count, header.dimension,
                 flat.header.vectors, flat.header.dimension);
    centroids.resize(flat.vectors.size() / sizeof(float));
    std::memcpy(centroids.data(), flat.vectors.data(), flat.vectors.size());
    reader.Check(std::ranges::all_of(centroids, [](float number) { return std::isfinite(number); }),
                 "a centroid has a number that is not finite");
    const auto direct_map = reader.Number<std::uint8_t>("the direct map");  // for what is not done here
    reader.Check(direct_map <= 2, "a direct map of kind {}", direct_map);
    reader.Vector(sizeof(std::int64_t), "the direct map");
    if (direct_map == 2) reader.Vector(2 * sizeof(std::int64_t), "the direct map");

    const std::string kind = reader.Kind("the lists");
    reader.Check(kind == "ilar", "lists of kind \"{}\", which must lie in the file (\"ilar\")", kind);
    const auto lists_here = reader.Number<std::uint64_t>("the number of lists");
    const auto code = reader.Number<std::uint64_t>("the size of a vector");
    reader.Check(lists_here == count && code == static_cast<std::uint64_t>(header.dimension) * sizeof(float),
                 "{} lists of vectors of {} bytes, where there are {} of {} numbers", lists_here, code, count,
                 header.dimension);
    std::int64_t vectors = 0;
    for (const std::uint64_t rows : ReadSizes(reader, count)) {
      List list{.vectors = reader.Take(rows, code, "the vectors of a list"), .ids = {}};
      list.ids = reader.Take(rows, sizeof(std::int64_t), "the ids of a list");
      list.rows = static_cast<std::int64_t>(rows);
      vectors += list.rows;
      Add(list);
    }
    reader.Check(vectors == header.vectors, "{} vectors in the lists of an index of {}", vectors, header.vectors);
  }

  void Read(Reader& reader) {
    std::string kind = reader.Kind("the kind of index");
    if (kind == "IxMp" || kind == "IxM2") {
      ids.emplace();
      header = ReadHeader(reader);
      kind = reader.Kind("the kind of index");
    }
    const Header outer = header;
    if (kind == "IwFl") {
      ReadInverted(reader);
    } else {
      reader.Check(kind == "IxFI",
                   "an index of kind \"{}\"; IndexFlatIP (\"IxFI\") and IndexIVFFlat (\"IwFl\") are read", kind);
      const Flat flat = ReadFlat(reader);
      header = flat.header;
      Add({.vectors = flat.vectors, .ids = {}, .rows = header.vectors});
    }
    reader.Check(header.metric == kInnerProduct, "the metric is {}, and must be the inner product, {}", header.metric,
                 kInnerProduct);
    if (ids) {
      reader.Check(outer.dimension == header.dimension && outer.vectors == header.vectors,
                   "ids for {} vectors of {} numbers, and there are {} of {}", outer.vectors, outer.dimension,
                   header.vectors, header.dimension);
      ids = reader.Vector(sizeof(std::int64_t), "the ids");
      reader.Check(std::cmp_equal(ids->size() / sizeof(std::int64_t), header.vectors), "{} ids of {} vectors",
                   ids->size() / sizeof(std::int64_t), header.vectors);
    }
    reader.Check(reader.at_end(), "the index has ended, and the file goes on");
  }

  std::vector<std::size_t> Nearest(std::span<const float> vector, std::int64_t probes) const {
    std::vector<std::size_t> order(lists.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (probes <= 0 || probes >= std::ssize(lists)) return order;
    const Matrix<const float> rows = {centroids.data(), std::ssize(lists), header.dimension, header.dimension};
    std::vector<float> products(lists.size());
    kernels::DotRows<float>(rows, vector.data(), products.data());
    BestRows best(probes);
    for (std::int64_t list = 0; list < rows.rows; ++list) {
      // |v - c|^2 = |v|^2 - 2 (v c - |c|^2 / 2)
      const float* const centroid = rows.row(list);
      const float half =
          nearest_by_l2 ? std::inner_product(centroid, centroid + rows.columns, centroid, 0.0f) / 2 : 0.0f;
      best.Add({list, products[static_cast<std::size_t>(list)] - half});
    }
    order.clear();
    for (const ScoredRow& one : best.Take()) order.push_back(static_cast<std::size_t>(one.row));
    return order;
  }

  std::int64_t IdOf(std::int64_t row) const {
    const auto after = std::ranges::upper_bound(lists, row, {}, &List::first);
    const List& list = *std::prev(after);
    const std::int64_t id =
        list.ids.empty() ? row : ElementOf<std::int64_t>(list.ids, static_cast<std::size_t>(row - list.first));
    if (!ids) return id;
    Check(id >= 0 && id < header.vectors, "{}: a list has the vector {}, and there are ids of {}", file.path(), id,
          header.vectors);
    return ElementOf<std::int64_t>(*ids, static_cast<std::size_t>(id));
  }
};

FaissIndex FaissIndex::Open(const std::string& path) {
  auto state = std::make_shared<State>();
  state->file = MappedFile(path);
  Reader reader(state->file);
  state->Read(reader);
  return FaissIndex(std::move(state));
}

std::int64_t FaissIndex::size() const { return state_->header.vectors; }
std::int64_t FaissIndex::dimension() const { return state_->header.dimension; }
std::int64_t FaissIndex::lists() const { return std::ssize(state_->lists); }

std::vector<FaissIndex::Hit> FaissIndex::Search(std::span<const float> vector, std::int64_t top, std::int64_t probes,
                                                const VectorIndex::Progress& progress) const {
  Check(std::ssize(vector) == dimension(), "the query's vector has {} numbers, and those of the index {}",
        vector.size(), dimension());
  Check(top >= 1, "top must be at least 1, not {}", top);
  const std::size_t row_bytes = vector.size() * sizeof(float);
  const auto block = static_cast<std::int64_t>(std::max<std::size_t>(1, kBlockBytes / row_bytes));
  std::vector<float> rows(static_cast<std::size_t>(block) * vector.size()), products(static_cast<std::size_t>(block));
  BestRows best(top);
  std::int64_t done = 0;
  for (const std::size_t number : state_->Nearest(vector, probes)) {
    const List& list = state_->lists[number];
    for (std::int64_t begin = 0; begin < list.rows; begin += block) {
      const std::int64_t count = std::min(block, list.rows - begin);
      std::memcpy(rows.data(), list.vectors.data() + static_cast<std::size_t>(begin) * row_bytes,
                  static_cast<std::size_t>(count) * row_bytes);
      kernels::DotRows<float>({rows.data(), count, dimension(), dimension()}, vector.data(), products.data());
      for (std::int64_t row = 0; row < count; ++row) {
        const float product = products[static_cast<std::size_t>(row)];
        Check(std::isfinite(product),
              "{}: vector {}: its product with the query is {}: it has a number that is damaged", state_->file.path(),
              list.first + begin + row, product);
        best.Add({list.first + begin + row, product});
      }
      done += count;
      if (progress) progress(done, size());
    }
  }
  std::vector<Hit> hits;
  for (const auto& [row, score] : best.Take()) hits.push_back({state_->IdOf(row), score});
  return hits;
}

void WriteFaiss(const VectorIndex& index, const std::string& path) {
  const std::int64_t dimension = index.model().dimension;
  std::string bytes = "IxFI";
  const auto add = [&](auto number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
  constexpr std::int64_t kUnused = 1 << 20;  // as FAISS writes them
  add(static_cast<std::int32_t>(dimension));
  add(index.size());
  add(kUnused);
  add(kUnused);
  add(std::uint8_t{1});  // trained
  add(kInnerProduct);
  add(static_cast<std::uint64_t>(index.size() * dimension));
  AtomicFile file(path);
  for (std::int64_t row = 0; row < index.size(); ++row) {
    const Tensor vector = index.Vector(row);
    bytes.append(reinterpret_cast<const char*>(vector.data<float>()),
                 static_cast<std::size_t>(dimension) * sizeof(float));
    if (bytes.size() < kBlockBytes) continue;
    file.Write(bytes);
    bytes.clear();
  }
  file.Write(bytes);
  file.Commit();
}

}  // namespace headlight
