"""`python -m peirce` and the command `peirce`: the command line, loaded where an early Ctrl-C is
caught too."""


def main() -> None:
    try:
        from .cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
