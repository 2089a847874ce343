"""Many bundles as one page: machines by mechanisms, over their limits, and by rank; and what is fit to be gathered."""
