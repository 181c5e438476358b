"""What least squares onto the answers of 200 records gains, on two workloads at epsilon = 1; prints a table.

python benchmarks/linear_queries_few.py
"""

import numpy as np

from dpgraph.problems.records.linear_queries import private_linear_queries

RECORDS, RUNS = 200, 6


def workloads() -> dict[str, np.ndarray]:
    """Public query matrices."""
    random = np.random.default_rng(0).random((400, 400)) < 0.5
    return {"prefix sums of 256": np.tril(np.ones((256, 256))), "400 random 0/1 queries": random.astype(float)}


def main() -> None:
    print("| queries | delta | mechanism | sparse=False | sparse=auto |\n| --- | --- | --- | --- | --- |")
    for name, A in workloads().items():
        N = A.shape[1]
        x = np.bincount(np.random.default_rng(1).integers(0, N, RECORDS), minlength=N)
        for delta, mechanism in ((0.0, "auto"), (1e-6, "auto"), (1e-6, "factorization")):
            errors = []
            for sparse in (False, "auto"):
                options = {"epsilon": 1.0, "delta": delta, "mechanism": mechanism, "sparse": sparse}
                found = [private_linear_queries(A, x, rng=seed, **options).answers for seed in range(RUNS)]
                errors.append(np.mean([np.sqrt(np.mean((answers - A @ x) ** 2)) for answers in found]))
            print(f"| {name} | {delta:g} | {mechanism} | {errors[0]:.3g} | {errors[1]:.3g} |", flush=True)


if __name__ == "__main__":
    main()
