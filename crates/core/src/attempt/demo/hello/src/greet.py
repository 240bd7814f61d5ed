"""Greets people by name."""

import sys


def greet(name: str) -> str:
    """The words for one person."""
    return f"Hello, {name}!"


def main(names: list[str]) -> None:
    """Greets everybody, or the world when nobody is named."""
    for name in names or ["world"]:
        print(greet(name))


if __name__ == "__main__":
    main(sys.argv[1:])
