"""How the records in data/ were made that notebooks read; `record.py` runs it."""
