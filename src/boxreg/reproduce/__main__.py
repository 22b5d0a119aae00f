"""`python -m boxreg.reproduce`."""

import sys

from .command import main

sys.exit(main())
