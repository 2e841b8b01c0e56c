"""Integers or percentages (`2`, `"25%"`) of a total, rounded as each field asks."""


def resolve(amount: int | str | None, total: int, *, up: bool) -> int:
    """The absolute number; a percentage is taken of `total`."""
    if amount is None:
        return 0
    if isinstance(amount, int):
        return amount
    percent = int(amount.removesuffix("%"))
    return -(-percent * total // 100) if up else percent * total // 100


def surge_and_unavailable(
    surge: int | str | None, unavailable: int | str | None, total: int
) -> tuple[int, int]:
    """`maxSurge` rounds up, `maxUnavailable` down; both 0 would never progress, so one may be unavailable."""
    extra, missing = resolve(surge, total, up=True), resolve(unavailable, total, up=False)
    return (extra, missing) if extra or missing else (0, 1)
