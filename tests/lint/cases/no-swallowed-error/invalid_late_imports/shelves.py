def take(book):
    LOANS.remove(book)
