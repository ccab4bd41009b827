import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # worlds_at_random.py is shared by these tests
