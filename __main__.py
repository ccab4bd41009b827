"""Run the command line, for `python -m peirce` and the command `peirce`.

It is imported inside the function so that an early Ctrl-C is caught too.
"""


def main() -> None:
    """Run the command line and exit with code 130 on Ctrl-C."""
    try:
        from .records.descriptors import open_standard_descriptors

        open_standard_descriptors()
        from .cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
