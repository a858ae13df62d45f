"""What the notebooks and the commands use beside utils.py: a module for each job."""
