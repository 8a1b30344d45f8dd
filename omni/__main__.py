"""`python -m omni` is the command line `omni`."""

from omni.cli import main

if __name__ == "__main__":
    main()
