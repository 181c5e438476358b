"""Problems: exact-data solvers and their private twins, which only compose mechanisms, projections and solvers."""
