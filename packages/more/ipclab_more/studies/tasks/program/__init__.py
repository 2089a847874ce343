"""What another interpreter runs, which may have nothing but its standard library."""
