"""What may be published: frozen results, and how they are saved."""
