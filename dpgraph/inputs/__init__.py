"""What users pass in becomes a private graph or a private table."""
