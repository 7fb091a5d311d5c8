"""Programs that train, evaluate and measure; run them from a clone, as `python -m experiments.<name>`."""
