"""What the notebooks share, beside the library `evaluate_retrieval` and utils.py."""
