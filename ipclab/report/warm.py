"""What every notebook imports: the fork server imports it once, and each kernel begins with it."""

import ipykernel.kernelapp  # noqa: F401
import pandas as pd  # noqa: F401
import seaborn as sns  # noqa: F401

import ipclab.notebook  # noqa: F401
from ipclab.figures import style

style.load_fonts()
