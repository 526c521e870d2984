from mcpcore import conflict, not_found


class Store:
    @property
    def size(self) -> int:
        raise not_found("The store is gone.", reason="gone")

    def __iter__(self):
        raise conflict("The store is being written.", reason="busy")
