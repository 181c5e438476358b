"""Release a cut of a graph on a Dask cluster: ``python release.py SCHEDULER FOLDER VERTICES``.

FOLDER holds Parquet or CSV files with the columns source and target; vertices are 0, ..., VERTICES - 1. Workers and
this client need to see FOLDER under the same path.
"""

import sys

from distributed import Client

import dpgraph


def main(scheduler: str, folder: str, vertices: str) -> None:
    with Client(scheduler) as client:
        client.wait_for_workers(2, timeout=600)
        graph = dpgraph.edge_frame(folder, nodes=int(vertices))
        cut = dpgraph.private_max_cut(graph, epsilon=1.0, progress=True)
    print(f"{cut.estimated_fraction:.3f} of about {cut.estimated_total_weight:.0f} edges are cut")
    print(cut.privacy)


if __name__ == "__main__":
    main(*sys.argv[1:])
