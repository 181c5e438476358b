"""Ways in for people: the command line, the networkx backend, reports, and what measures public graphs."""
