"""What each fitted constant is worth: default against the simplest choice, on inputs that nothing was fitted to."""
