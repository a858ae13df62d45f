# A checkout has utils.py at its root, see __init__.py: so a type checker finds it here.
from utils import *
