"""The books, in memory. Replace it with your database or service."""

from __future__ import annotations

from dataclasses import dataclass, field


class UnknownIsbnError(Exception):
    """No book has this ISBN."""

    def __init__(self, isbn: str) -> None:
        super().__init__(isbn)
        self.isbn = isbn


class AllLentError(Exception):
    """All copies of a book are lent."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.title = title


@dataclass
class Library:
    """Books by their ISBN, and how many copies are left."""

    titles: dict[str, str] = field(
        default_factory=lambda: {
            "9780141439518": "Pride and Prejudice",
            "9780140449136": "The Odyssey",
            "9780141441146": "Jane Eyre",
            "9780142437209": "Jane Eyre",
        }
    )
    copies: dict[str, int] = field(
        default_factory=lambda: {
            "9780141439518": 2,
            "9780140449136": 1,
            "9780141441146": 0,
            "9780142437209": 1,
        }
    )

    def find(self, words: str) -> list[str]:
        """Return the ISBNs of the books whose title contains all words."""
        wanted = words.lower().split()
        return [
            isbn
            for isbn, title in self.titles.items()
            if all(word in title.lower() for word in wanted)
        ]

    def lend(self, isbn: str) -> int:
        """Lend a copy, and return how many are left.

        Raises:
            UnknownIsbnError: No book has this ISBN.
            AllLentError: All copies are lent.
        """
        if isbn not in self.copies:
            raise UnknownIsbnError(isbn)
        if self.copies[isbn] == 0:
            raise AllLentError(self.titles[isbn])
        self.copies[isbn] -= 1
        return self.copies[isbn]
