"""What is done with released values to make them better; sees nothing private."""
