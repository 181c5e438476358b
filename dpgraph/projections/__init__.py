"""Convex sets, Euclidean projections onto them, and projections onto their intersections.

Everything here is post-processing of public or already private data.
"""

from dpgraph.projections.convex_set import (
    Box,
    ConvexSet,
    FrobeniusBall,
    ProjectionResult,
    project_box,
    project_nonnegative,
)
from dpgraph.projections.elliptope import Elliptope, project_elliptope
from dpgraph.projections.l1_hull import L1Hull, project_l1_hull
from dpgraph.projections.spectral_ball import project_nonnegative_spectral_ball
from dpgraph.projections.spectral_sets import (
    NuclearBall,
    PSDCone,
    PSDFrobeniusBall,
    PSDTraceBall,
    SpectralBall,
    project_nuclear_ball,
    project_psd,
    project_psd_trace,
    project_spectral_ball,
    shrink_psd_trace,
)
from dpgraph.projections.splitting import averaged_projections, dykstra

__all__ = [
    "Box",
    "ConvexSet",
    "Elliptope",
    "FrobeniusBall",
    "L1Hull",
    "NuclearBall",
    "PSDCone",
    "PSDFrobeniusBall",
    "PSDTraceBall",
    "ProjectionResult",
    "SpectralBall",
    "averaged_projections",
    "dykstra",
    "project_box",
    "project_elliptope",
    "project_l1_hull",
    "project_nonnegative",
    "project_nonnegative_spectral_ball",
    "project_nuclear_ball",
    "project_psd",
    "project_psd_trace",
    "project_spectral_ball",
    "shrink_psd_trace",
]
