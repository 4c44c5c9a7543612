#!/usr/bin/env python3
"""Makes headlight/search/testdata/faiss/: index files written by Faiss, and its search results.

    pip install faiss-cpu==1.15.1 numpy
    tools/make_faiss_goldens.py

    flat.faiss        IndexFlatIP of 40 vectors of 6 numbers
    idmap.faiss       the same index within an IndexIDMap, with the ids 1000, 1003, ...
    ivf.faiss         IndexIVFFlat of 5 lists by inner product
    ivf_l2.faiss      the same index, with lists selected by L2 distance
    sparse.faiss      8 lists, most of them empty
    l2.faiss          IndexFlatL2 of the 40 vectors
    ivf_by_l2.faiss   IndexIVFFlat of 5 lists by L2 distance
    hnsw.faiss        IndexHNSWFlat of 300 vectors by inner product
    hnsw_l2.faiss     the same vectors by L2 distance, within an IndexIDMap2
    pq.faiss          an unsupported kind of index
    results.json      for each index and each number of probed lists, or of kept candidates: the ids and the products, or
                      squared distances, of 7 queries
"""

import json
import pathlib

import faiss
import numpy as np

OUT = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "search" / "testdata" / "faiss"
DIMENSION, TOP = 6, 5


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    faiss.omp_set_num_threads(1)
    random = np.random.default_rng(3)
    vectors = random.standard_normal((40, DIMENSION)).astype(np.float32)
    queries = random.standard_normal((7, DIMENSION)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    flat = faiss.IndexFlatIP(DIMENSION)
    flat.add(vectors)
    mapped = faiss.IndexIDMap(faiss.IndexFlatIP(DIMENSION))
    mapped.add_with_ids(vectors, 1000 + 3 * np.arange(40))

    def inverted(quantizer, lists, rows, metric=faiss.METRIC_INNER_PRODUCT):
        quantizer.add(vectors[:lists])  # vectors as centroids, because training may differ between versions
        index = faiss.IndexIVFFlat(quantizer, DIMENSION, lists, metric)
        index.is_trained = True
        index.add(rows)
        return index

    flat_l2 = faiss.IndexFlatL2(DIMENSION)
    flat_l2.add(vectors)
    many = np.random.default_rng(4).standard_normal((300, DIMENSION)).astype(np.float32)
    graph = faiss.IndexHNSWFlat(DIMENSION, 4, faiss.METRIC_INNER_PRODUCT)
    graph.add(many)
    graph_l2 = faiss.IndexIDMap2(faiss.IndexHNSWFlat(DIMENSION, 4, faiss.METRIC_L2))
    graph_l2.add_with_ids(many, 1000 + 3 * np.arange(300))
    made = {
        "flat": flat,
        "idmap": mapped,
        "ivf": inverted(faiss.IndexFlatIP(DIMENSION), 5, vectors),
        "ivf_l2": inverted(faiss.IndexFlatL2(DIMENSION), 5, vectors),
        "sparse": inverted(faiss.IndexFlatIP(DIMENSION), 8, vectors[:2]),
        "l2": flat_l2,
        "ivf_by_l2": inverted(faiss.IndexFlatL2(DIMENSION), 5, vectors, faiss.METRIC_L2),
        "hnsw": graph,
        "hnsw_l2": graph_l2,
    }
    results = []
    for name, index in made.items():
        faiss.write_index(index, str(OUT / f"{name}.faiss"))
        lists = getattr(index, "nlist", 0)
        for probes, ef_search in [(probes, 0) for probes in (1, 2, lists)] if lists else (
                [(0, ef_search) for ef_search in (1, 4, 16, 300)] if name.startswith("hnsw") else [(0, 0)]):
            if probes:
                index.nprobe = probes
            parameters = faiss.SearchParametersHNSW(efSearch=ef_search) if ef_search else None
            products, ids = index.search(queries, TOP, params=parameters)
            results.append({"file": name, "probes": probes, "ef_search": ef_search, "ids": ids.tolist(),
                            "products": products.astype(float).tolist()})
    quantized = faiss.IndexPQ(DIMENSION, 2, 1, faiss.METRIC_INNER_PRODUCT)
    quantized.train(vectors)
    faiss.write_index(quantized, str(OUT / "pq.faiss"))
    with open(OUT / "results.json", "w") as file:
        json.dump({"vectors": vectors.astype(float).tolist(), "many": many.astype(float).tolist(), "queries": queries.astype(float).tolist(), "results": results},
                  file)


main()
