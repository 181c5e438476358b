"""A page about a private graph: `sections` makes the private calls, `page` and `charts` show what they released."""
