"""Ways in for people: the command line, the networkx backend, planning."""
