#!/usr/bin/env python3
"""Makes headlight/search/testdata/faiss/: index files as FAISS writes them, and what it finds in them.

    pip install faiss-cpu==1.15.1 numpy
    tools/make_faiss_goldens.py

    flat.faiss        IndexFlatIP of 40 vectors of 6 numbers
    idmap.faiss       the same within an IndexIDMap, with the ids 1000, 1003, ...
    ivf.faiss         IndexIVFFlat of 5 lists by inner product
    ivf_l2.faiss      the same, whose lists are chosen by L2 distance
    sparse.faiss      8 lists of which most are empty
    l2.faiss, pq.faiss  other kinds, which are refused
    results.json      for each of them and each number of lists that are probed: the ids and products of 7 queries
"""

import json
import pathlib

import faiss
import numpy as np

OUT = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "tasks" / "testdata" / "faiss"
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

    def inverted(quantizer, lists, rows):
        quantizer.add(vectors[:lists])  # as they are: no training that another version may do otherwise
        index = faiss.IndexIVFFlat(quantizer, DIMENSION, lists, faiss.METRIC_INNER_PRODUCT)
        index.is_trained = True
        index.add(rows)
        return index

    made = {
        "flat": flat,
        "idmap": mapped,
        "ivf": inverted(faiss.IndexFlatIP(DIMENSION), 5, vectors),
        "ivf_l2": inverted(faiss.IndexFlatL2(DIMENSION), 5, vectors),
        "sparse": inverted(faiss.IndexFlatIP(DIMENSION), 8, vectors[:2]),
    }
    results = []
    for name, index in made.items():
        faiss.write_index(index, str(OUT / f"{name}.faiss"))
        for probes in (1, 2, index.nlist) if hasattr(index, "nlist") else (0,):
            if probes:
                index.nprobe = probes
            products, ids = index.search(queries, TOP)
            results.append({"file": name, "probes": probes, "ids": ids.tolist(), "products": products.astype(float).tolist()})
    flat_l2 = faiss.IndexFlatL2(DIMENSION)
    flat_l2.add(vectors[:3])
    faiss.write_index(flat_l2, str(OUT / "l2.faiss"))
    quantized = faiss.IndexPQ(DIMENSION, 2, 1, faiss.METRIC_INNER_PRODUCT)
    quantized.train(vectors)
    faiss.write_index(quantized, str(OUT / "pq.faiss"))
    with open(OUT / "results.json", "w") as file:
        json.dump({"vectors": vectors.astype(float).tolist(), "queries": queries.astype(float).tolist(), "results": results},
                  file)


main()
