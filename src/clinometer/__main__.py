"""``python -m clinometer`` is the command ``clinometer``."""

from clinometer.cli import main

if __name__ == "__main__":
    main()
