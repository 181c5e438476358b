"""Problems: solvers of exact data, and private versions, which only compose mechanisms, projections and solvers."""
