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
#include "headlight/search/faiss_graph.h"

namespace headlight {
namespace {

// This reader is used because Faiss's own reader is not designed for untrusted files, and needs a BLAS library. Values
// are little-endian, and unaligned because a header has 33 bytes.
constexpr std::int32_t kInnerProduct = 0, kL2 = 1, kMostDimensions = 1 << 16;
// The size of a block of vectors that is copied for alignment. It fits in the cache.
constexpr std::size_t kBlockBytes = 1 << 20;

using Bytes = std::span<const std::byte>;

// Returns element `index` of an unaligned array.
template <typename T>
T ElementOf(Bytes bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

class Reader {
 public:
  explicit Reader(const MappedFile& file) : file_(file) {}

  // Returns `count` elements of `size` bytes, and advances past them.
  Bytes Take(std::uint64_t count, std::uint64_t size, const char* what) {
    const std::uint64_t rest = file_.bytes().size() - at_;
    Check(count <= rest / size, "{} of {} x {} bytes, but the file has only {} more", what, count, size, rest);
    const Bytes taken = file_.bytes().subspan(at_, count * size);
    at_ += taken.size();
    return taken;
  }
  template <typename T>
  T Number(const char* what) {
    return ElementOf<T>(Take(1, sizeof(T), what), 0);
  }
  // Returns the elements of a vector. The number of elements precedes them.
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
  reader.Take(2, sizeof(std::int64_t), "the header");  // two unused fields
  const auto trained = reader.Number<std::uint8_t>("the header");
  header.metric = reader.Number<std::int32_t>("the metric");
  reader.Check(header.dimension >= 1 && header.dimension <= kMostDimensions && header.vectors >= 0,
               "{} vectors of {} numbers; there must be 1 to {} numbers", header.vectors, header.dimension,
               kMostDimensions);
  reader.Check(trained == 1, "the index was not trained");
  reader.Check(header.metric == kInnerProduct || header.metric == kL2,
               "the metric is {}, but must be the inner product, {}, or L2, {}", header.metric, kInnerProduct, kL2);
  return header;
}

// A list of consecutive vectors and their ids. If `ids` is empty, the ids are consecutive row numbers.
struct List {
  Bytes vectors, ids;
  std::int64_t first = 0, rows = 0;  // index of the first vector among all vectors, and number of vectors
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
               "{} bytes of vectors, but there are {} of {} numbers", flat.vectors.size(), flat.header.vectors,
               flat.header.dimension);
  return flat;
}

template <typename T>
std::vector<T> ReadNumbers(Reader& reader, const char* what) {
  const Bytes bytes = reader.Vector(sizeof(T), what);
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

FaissGraph ReadGraph(Reader& reader, std::int64_t nodes) {
  FaissGraph graph;
  reader.Vector(sizeof(double), "the probabilities of levels");  // needed only to add nodes
  graph.ends = ReadNumbers<std::int32_t>(reader, "the neighbors of levels");
  constexpr std::size_t kMostLevels = 256;
  reader.Check(graph.ends.size() <= kMostLevels + 1 && (nodes == 0 || (graph.ends.size() > 1 && graph.ends[0] == 0)) &&
                   std::ranges::is_sorted(graph.ends),
               "{} numbers of neighbors; they must increase from 0, for at most {} levels", graph.ends.size(),
               kMostLevels);
  const auto levels = ReadNumbers<std::int32_t>(reader, "the levels");
  graph.offsets = ReadNumbers<std::uint64_t>(reader, "the offsets of nodes");
  graph.neighbors = ReadNumbers<std::int32_t>(reader, "the neighbors");
  reader.Check(std::cmp_equal(levels.size(), nodes) && graph.offsets.size() == levels.size() + 1 &&
                   graph.offsets.front() == 0 && graph.offsets.back() == graph.neighbors.size(),
               "the graph has {} levels, {} offsets and {} neighbors for {} vectors", levels.size(),
               graph.offsets.size(), graph.neighbors.size(), nodes);
  for (std::size_t node = 0; node < levels.size(); ++node) {
    const std::int32_t count = levels[node];
    reader.Check(count >= 1 && static_cast<std::size_t>(count) < graph.ends.size(),
                 "node {} is on {} levels, but there are {}", node, count, graph.ends.size() - 1);
    const std::uint64_t begin = graph.offsets[node], end = graph.offsets[node + 1];
    const auto own = static_cast<std::uint64_t>(graph.ends[static_cast<std::size_t>(count)]);
    reader.Check(begin <= end && end - begin == own && end <= graph.neighbors.size(),
                 "the neighbors of node {} are those from {} to {}, but it has {}", node, begin, end, own);
    for (std::int32_t level = 0; level < count; ++level) {
      for (auto at = static_cast<std::uint64_t>(graph.ends[static_cast<std::size_t>(level)]);
           at < static_cast<std::uint64_t>(graph.ends[static_cast<std::size_t>(level) + 1]); ++at) {
        const std::int32_t other = graph.neighbors[begin + at];
        reader.Check(other >= -1 && std::cmp_less(other, nodes) &&
                         (other < 0 || levels[static_cast<std::size_t>(other)] > level),
                     "node {} has the neighbor {}, which is not on level {}", node, other, level);
      }
    }
  }
  graph.entry = reader.Number<std::int32_t>("the entry");
  graph.top_level = reader.Number<std::int32_t>("the highest level");
  reader.Number<std::int32_t>("the candidates while adding");
  graph.ef_search = reader.Number<std::int32_t>("the candidates of a search");
  reader.Number<std::int32_t>("the graph");  // unused
  const bool is_empty = nodes == 0 && graph.entry == -1;
  reader.Check(is_empty || (graph.entry >= 0 && std::cmp_less(graph.entry, nodes) &&
                            graph.top_level == levels[static_cast<std::size_t>(graph.entry)] - 1),
               "the entry is node {} on level {}, which is not on the highest level", graph.entry, graph.top_level);
  reader.Check(graph.ef_search >= 1, "a search must keep at least 1 candidate, not {}", graph.ef_search);
  return graph;
}

// Reads the sizes of all lists. They are stored in full, or as pairs of index and size for non-empty lists.
std::vector<std::uint64_t> ReadSizes(Reader& reader, std::uint64_t lists) {
  std::vector<std::uint64_t> sizes(lists);
  const std::string kind = reader.Kind("the sizes of lists");
  const Bytes numbers = reader.Vector(sizeof(std::uint64_t), "the sizes of lists");
  const std::size_t count = numbers.size() / sizeof(std::uint64_t);
  if (kind == "full") {
    reader.Check(count == lists, "there are {} sizes for {} lists", count, lists);
    for (std::size_t i = 0; i < count; ++i) sizes[i] = ElementOf<std::uint64_t>(numbers, i);
    return sizes;
  }
  reader.Check(kind == "sprs" && count % 2 == 0, "sizes of lists \"{}\" must be \"full\" or pairs, \"sprs\"", kind);
  for (std::size_t i = 0; i < count; i += 2) {
    const auto list = ElementOf<std::uint64_t>(numbers, i);
    reader.Check(list < lists, "a size is of list {}, but there are {}", list, lists);
    sizes[list] = ElementOf<std::uint64_t>(numbers, i + 1);
  }
  return sizes;
}

}  // namespace

struct FaissIndex::State {
  MappedFile file;
  Header header;
  std::vector<List> lists;
  std::vector<float> centroids;  // [lists, dimension]; empty for a flat index
  bool nearest_by_l2 = false;    // true: nearest by L2 distance; false: nearest by inner product
  std::optional<FaissGraph> graph;
  std::optional<Bytes> ids;  // ids of an IndexIDMap, which replace the row numbers

  void Add(List list) {
    list.first = lists.empty() ? 0 : lists.back().first + lists.back().rows;
    lists.push_back(list);
  }

  void ReadInverted(Reader& reader) {
    header = ReadHeader(reader);
    const auto count = reader.Number<std::uint64_t>("the number of lists");
    reader.Number<std::uint64_t>("the number of lists to search");
    const std::string quantizer = reader.Kind("the quantizer");
    reader.Check(quantizer == "IxFI" || quantizer == "IxF2", "the quantizer is \"{}\", but must be a flat index",
                 quantizer);
    const Flat flat = ReadFlat(reader);
    nearest_by_l2 = flat.header.metric == kL2;
    reader.Check(flat.header.dimension == header.dimension && std::cmp_equal(flat.header.vectors, count),
                 "there are {} lists of vectors of {} numbers, but {} centroids of {}", count, header.dimension,
                 flat.header.vectors, flat.header.dimension);
    centroids.resize(flat.vectors.size() / sizeof(float));
    std::memcpy(centroids.data(), flat.vectors.data(), flat.vectors.size());
    reader.Check(std::ranges::all_of(centroids, [](float number) { return std::isfinite(number); }),
                 "a centroid has a number that is not finite");
    const auto direct_map = reader.Number<std::uint8_t>("the direct map");  // the direct map is not used
    reader.Check(direct_map <= 2, "a direct map of kind {}", direct_map);
    reader.Vector(sizeof(std::int64_t), "the direct map");
    if (direct_map == 2) reader.Vector(2 * sizeof(std::int64_t), "the direct map");

    const std::string kind = reader.Kind("the lists");
    reader.Check(kind == "ilar", "lists are of kind \"{}\", but must be in the file (\"ilar\")", kind);
    const auto lists_here = reader.Number<std::uint64_t>("the number of lists");
    const auto code = reader.Number<std::uint64_t>("the size of a vector");
    reader.Check(lists_here == count && code == static_cast<std::uint64_t>(header.dimension) * sizeof(float),
                 "there are {} lists of vectors of {} bytes, but {} of {} numbers", lists_here, code, count,
                 header.dimension);
    std::int64_t vectors = 0;
    for (const std::uint64_t rows : ReadSizes(reader, count)) {
      List list{.vectors = reader.Take(rows, code, "the vectors of a list"), .ids = {}};
      list.ids = reader.Take(rows, sizeof(std::int64_t), "the ids of a list");
      list.rows = static_cast<std::int64_t>(rows);
      vectors += list.rows;
      Add(list);
    }
    reader.Check(vectors == header.vectors, "the lists have {} vectors, but the index has {}", vectors, header.vectors);
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
      const bool has_graph = kind == "IHNf";
      Header of_graph;
      if (has_graph) {
        of_graph = ReadHeader(reader);
        graph = ReadGraph(reader, of_graph.vectors);
        kind = reader.Kind("the vectors of a graph");
      }
      reader.Check(
          kind == "IxFI" || kind == "IxF2",
          "an index of kind \"{}\"; IndexFlatIP (\"IxFI\"), IndexFlatL2 (\"IxF2\"), IndexIVFFlat (\"IwFl\") and "
          "IndexHNSWFlat (\"IHNf\") are read",
          kind);
      const Flat flat = ReadFlat(reader);
      header = flat.header;
      reader.Check(header.metric == (kind == "IxFI" ? kInnerProduct : kL2), "an index of kind \"{}\" has the metric {}",
                   kind, header.metric);
      reader.Check(!has_graph || (of_graph.dimension == header.dimension && of_graph.vectors == header.vectors &&
                                  of_graph.metric == header.metric),
                   "the graph has {} vectors of {} numbers with the metric {}, but there are {} of {} with {}",
                   of_graph.vectors, of_graph.dimension, of_graph.metric, header.vectors, header.dimension,
                   header.metric);
      Add({.vectors = flat.vectors, .ids = {}, .rows = header.vectors});
    }
    if (ids) {
      reader.Check(outer.dimension == header.dimension && outer.vectors == header.vectors,
                   "there are ids for {} vectors of {} numbers, but there are {} of {}", outer.vectors, outer.dimension,
                   header.vectors, header.dimension);
      ids = reader.Vector(sizeof(std::int64_t), "the ids");
      reader.Check(std::cmp_equal(ids->size() / sizeof(std::int64_t), header.vectors),
                   "there are {} ids for {} vectors", ids->size() / sizeof(std::int64_t), header.vectors);
    }
    reader.Check(reader.at_end(), "the file continues after the end of the index");
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

  // Computes the similarity of `count` vectors and the query: the inner product, or the negative squared distance.
  // `rows` is a buffer for aligned copies. Throws Error if a number is not finite.
  void Compare(std::span<const float> query, const List& list, std::int64_t begin, std::int64_t count,
               std::vector<float>& rows, std::vector<float>& scores) const {
    const std::size_t row_bytes = query.size() * sizeof(float);
    rows.resize(static_cast<std::size_t>(count) * query.size());
    scores.resize(static_cast<std::size_t>(count));
    std::memcpy(rows.data(), list.vectors.data() + static_cast<std::size_t>(begin) * row_bytes,
                static_cast<std::size_t>(count) * row_bytes);
    if (header.metric == kL2) {
      for (std::size_t row = 0; row < scores.size(); ++row) {
        float squares = 0;
        for (std::size_t i = 0; i < query.size(); ++i) {
          const float difference = rows[row * query.size() + i] - query[i];
          squares += difference * difference;
        }
        scores[row] = -squares;
      }
    } else {
      kernels::DotRows<float>({rows.data(), count, header.dimension, header.dimension}, query.data(), scores.data());
    }
    for (std::int64_t row = 0; row < count; ++row) {
      const float score = scores[static_cast<std::size_t>(row)];
      Check(std::isfinite(score), "{}: vector {}: its {} is {}: one of its numbers is damaged", file.path(),
            list.first + begin + row,
            header.metric == kL2 ? "squared distance from the query" : "product with the query", std::abs(score));
    }
  }

  std::int64_t IdOf(std::int64_t row) const {
    const auto after = std::ranges::upper_bound(lists, row, {}, &List::first);
    const List& list = *std::prev(after);
    const std::int64_t id =
        list.ids.empty() ? row : ElementOf<std::int64_t>(list.ids, static_cast<std::size_t>(row - list.first));
    if (!ids) return id;
    Check(id >= 0 && id < header.vectors, "{}: a list has the vector {}, but there are {} ids", file.path(), id,
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

bool FaissIndex::by_l2() const { return state_->header.metric == kL2; }
bool FaissIndex::has_graph() const { return state_->graph.has_value(); }

std::vector<FaissIndex::Hit> FaissIndex::Search(std::span<const float> vector, std::int64_t top,
                                                const Options& options) const {
  Check(std::ssize(vector) == dimension(), "the query's vector has {} numbers, but those of the index {}",
        vector.size(), dimension());
  Check(top >= 1, "top must be at least 1, not {}", top);
  std::vector<float> rows, scores;
  std::vector<ScoredRow> found;
  if (state_->graph) {
    const FaissGraph& graph = *state_->graph;
    const std::int64_t nodes = std::max<std::int64_t>(1, size());
    const std::int64_t ef_search = options.ef_search > 0 ? options.ef_search : graph.ef_search;
    found = SearchGraph(graph, std::min(top, nodes), std::min(ef_search, nodes), [&](std::int64_t node) {
      state_->Compare(vector, state_->lists[0], node, 1, rows, scores);
      return scores[0];
    });
  } else {
    const auto block =
        static_cast<std::int64_t>(std::max<std::size_t>(1, kBlockBytes / (vector.size() * sizeof(float))));
    BestRows best(top);
    std::int64_t done = 0;
    for (const std::size_t number : state_->Nearest(vector, options.probes)) {
      const List& list = state_->lists[number];
      for (std::int64_t begin = 0; begin < list.rows; begin += block) {
        const std::int64_t count = std::min(block, list.rows - begin);
        state_->Compare(vector, list, begin, count, rows, scores);
        for (std::int64_t row = 0; row < count; ++row)
          best.Add({list.first + begin + row, scores[static_cast<std::size_t>(row)]});
        done += count;
        if (options.progress) options.progress(done, size());
      }
    }
    found = best.Take();
  }
  std::vector<Hit> hits;
  for (const auto& [row, score] : found) hits.push_back({state_->IdOf(row), by_l2() ? -score : score});
  return hits;
}

void WriteFaiss(const VectorIndex& index, const std::string& path, bool by_l2) {
  const std::int64_t dimension = index.model().dimension;
  std::string bytes = by_l2 ? "IxF2" : "IxFI";
  const auto add = [&](auto number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
  constexpr std::int64_t kUnused = 1 << 20;  // the value that Faiss writes for unused fields
  add(static_cast<std::int32_t>(dimension));
  add(index.size());
  add(kUnused);
  add(kUnused);
  add(std::uint8_t{1});  // the index is trained
  add(by_l2 ? kL2 : kInnerProduct);
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
